module partner-api.example/webhook

go 1.19
