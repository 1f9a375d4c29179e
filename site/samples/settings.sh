export PARTNER_API=https://partners.example.com
export PARTNER_TOKEN=vck_…       # the token that you were given
export RECEIVER_URL=https://…    # where deliveries are to go
