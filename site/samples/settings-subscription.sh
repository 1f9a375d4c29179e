export SUBSCRIPTION_ID=wh_…      # "id" of the answer
export PARTNER_SECRET=whsec_…    # "secret" of the answer, shown this once
