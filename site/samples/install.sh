npm install ./partner-api-1.0.0.tgz
alias partner-api="./node_modules/.bin/partner-api"    # in each terminal
