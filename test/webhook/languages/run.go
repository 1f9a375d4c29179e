// Prints the verdict of examples/verify.go on each vector.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"vectors/webhook"
)

type vector struct {
	Secrets []string
	Headers [][2]string
	Body    string
	Repeat  int
	Now     int64
}

func (v vector) header(name string) string {
	var values []string
	for _, line := range v.Headers {
		if strings.EqualFold(line[0], name) {
			values = append(values, line[1])
		}
	}
	return strings.Join(values, ", ")
}

func main() {
	text, err := os.ReadFile(os.Args[1] + "/vectors/signature.json")
	var vectors struct{ Cases []vector }
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		panic(err)
	}
	for _, v := range vectors.Cases {
		body, _ := base64.StdEncoding.DecodeString(v.Body)
		body = bytes.Repeat(body, v.Repeat)
		signature, timestamp := v.header("X-VC-Signature"), v.header("X-VC-Timestamp")
		fmt.Println(webhook.Verify(v.Secrets, signature, timestamp, body, v.Now))
	}
}
