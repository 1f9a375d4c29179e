curl -sS "$PARTNER_API/api/v1/partner/webhooks/$SUBSCRIPTION_ID/test" \
  -H "Authorization: Bearer $PARTNER_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"secret": "'"$PARTNER_SECRET"'"}'
