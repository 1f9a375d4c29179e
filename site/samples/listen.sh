partner-api listen
