partner-api listen --record deliveries.jsonl
