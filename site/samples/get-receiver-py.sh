curl -fsS -O "$PARTNER_API/docs/files/receiver.py" \
      -O "$PARTNER_API/docs/files/verify.py"
