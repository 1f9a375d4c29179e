mkdir -p webhook
curl -fsS -O "$PARTNER_API/docs/files/receiver.go" \
      -o webhook/verify.go "$PARTNER_API/docs/files/verify.go"
go mod init receiver
