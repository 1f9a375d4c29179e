package webhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	webhook "partner-api.example/webhook"
)

type vector struct {
	Name    string
	Secrets []string
	Headers [][2]string
	Body    string
	Repeat  int
	Now     int64
	Verdict webhook.Verdict
}

// VECTORS names the file of vectors.
func vectors(t *testing.T) []vector {
	text, err := os.ReadFile(os.Getenv("VECTORS"))
	var file struct{ Cases []vector }
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil || len(file.Cases) == 0 {
		t.Fatal("no vectors: ", err)
	}
	return file.Cases
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			body, err := base64.StdEncoding.DecodeString(v.Body)
			if err != nil {
				t.Fatal(err)
			}
			header := http.Header{}
			for _, line := range v.Headers {
				header.Add(line[0], line[1])
			}
			got := webhook.Verify(v.Secrets, header, bytes.Repeat(body, v.Repeat), time.UnixMilli(v.Now))
			if got != v.Verdict {
				t.Errorf("%s, not %s", got, v.Verdict)
			}
		})
	}
}

func TestSecretIsMissing(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"whsec_x", ""}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q: no panic", secrets)
				}
			}()
			webhook.Verify(secrets, http.Header{}, nil, time.Now())
		}()
	}
}
