partner-api listen --replay deliveries.jsonl \
  --forward-to http://localhost:3000/hooks --secret "$PARTNER_SECRET"
