npm install @partner-api/webhook
