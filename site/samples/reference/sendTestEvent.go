package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	url := os.Getenv("PARTNER_API") + "/api/v1/partner/webhooks/" + os.Getenv("SUBSCRIPTION_ID") + "/test"
	body, _ := json.Marshal(map[string]any{"secret": os.Getenv("PARTNER_SECRET")})
	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARTNER_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(answer), err)
}
