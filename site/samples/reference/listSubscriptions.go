package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	url := os.Getenv("PARTNER_API") + "/api/v1/partner/webhooks"
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARTNER_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(answer), err)
}
