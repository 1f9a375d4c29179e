partner-api listen --secret "$PARTNER_SECRET"
