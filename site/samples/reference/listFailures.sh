curl -sS "$PARTNER_API/api/v1/partner/webhooks/$SUBSCRIPTION_ID/failures?limit=20" \
  -H "Authorization: Bearer $PARTNER_TOKEN"
