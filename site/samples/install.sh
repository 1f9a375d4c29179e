npm install ./partner-api-1.0.0.tgz
alias partner-api="npx partner-api"      # in each terminal
