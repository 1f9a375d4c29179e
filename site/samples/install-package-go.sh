go get partner-api.example/webhook
