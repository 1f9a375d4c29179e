pip install partner-api-webhook
