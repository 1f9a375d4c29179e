TLS_PEM=.data/listen/receiver.pem PORT=9443 go run receiver.go
