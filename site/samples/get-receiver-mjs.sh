curl -fsS -O "$PARTNER_API/docs/files/receiver.mjs" \
      -O "$PARTNER_API/docs/files/webhook.mjs"
