// Prints the verdict of the Standard Webhooks library on each delivery on standard input.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	var deliveries []struct {
		Secret  string
		Headers map[string]string
		Body    string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&deliveries); err != nil {
		panic(err)
	}
	for _, delivery := range deliveries {
		header := http.Header{}
		for name, value := range delivery.Headers {
			header.Set(name, value)
		}
		library, err := standardwebhooks.NewWebhook(delivery.Secret)
		if err != nil {
			panic(err)
		}
		body, _ := base64.StdEncoding.DecodeString(delivery.Body)
		if library.Verify(body, header) == nil {
			fmt.Println("valid")
		} else {
			fmt.Println("refused")
		}
	}
}
