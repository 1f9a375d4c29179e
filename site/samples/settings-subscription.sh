export SUBSCRIPTION_ID=wh_…      # "id" of the response
export PARTNER_SECRET=whsec_…    # "secret" of the response, shown only once
