curl -sS "$PARTNER_API/api/v1/partner/webhooks" \
  -H "Authorization: Bearer $PARTNER_TOKEN"
