curl -sS "$PARTNER_API/api/v1/partner/webhooks" \
  -H "Authorization: Bearer $PARTNER_TOKEN" \
  -H "Content-Type: application/json" \
  -H "Idempotency-Key: 5f0c2d1e-8a44-4c57-9f3b-2f6f0b8f9a10" \
  -d '{"url": "'"$RECEIVER_URL"'", "events": ["vc.test.ping"]}'
