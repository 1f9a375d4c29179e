curl -sS -X DELETE "$PARTNER_API/api/v1/partner/webhooks/$SUBSCRIPTION_ID" \
  -H "Authorization: Bearer $PARTNER_TOKEN"
