EGRESS_ALLOW=127.0.0.1/32,::1/128 \
EGRESS_CA_FILE=.data/listen/ca.pem \
RETRY_DELAYS=2s,4s,8s \
  partner-api serve
