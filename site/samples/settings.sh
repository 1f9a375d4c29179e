export PARTNER_API=https://partners.example.com
export PARTNER_TOKEN=vck_…       # your token
