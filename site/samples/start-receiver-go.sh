go run receiver.go
