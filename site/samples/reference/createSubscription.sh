curl -sS "$PARTNER_API/api/v1/partner/webhooks" \
  -H "Authorization: Bearer $PARTNER_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"url": "'"$RECEIVER_URL"'", "events": ["vc.test.ping"]}'
