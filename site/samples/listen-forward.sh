partner-api listen --forward-to http://localhost:3000/hooks
