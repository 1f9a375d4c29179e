partner-api org create acme
partner-api key create --organization acme --scope webhooks:manage
