curl -sS "$PARTNER_API/api/v1/partner/me" \
  -H "Authorization: Bearer $PARTNER_TOKEN"
