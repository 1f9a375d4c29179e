#!/usr/bin/env bash
# github.com/cloudevents/sdk-go/v2 2.16.2 (Go module), an event whose `datacontenttype` is application/vnd.acme+json.
#
# Expected: in structured mode `data` is the JSON value, as for every media type with the subtype +json (JSON format 1.0.2, 3.1).
# Found: `data` is a text that holds the JSON, and so it is when the event arrived in binary mode and is passed on. With
# application/json and with text/json it is the value. `DataAs` reads all of them, so a program in Go does not notice.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
mkdir "$folder/check"
cd "$folder/check"
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cat > main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

func told(how string, event cloudevents.Event) {
	text, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		panic(err)
	}
	fmt.Printf("%s %s: %s\n", how, event.DataContentType(), members["data"])
}

func main() {
	for _, media := range []string{"application/json", "text/json", "application/vnd.acme+json"} {
		event := cloudevents.NewEvent()
		event.SetID("1")
		event.SetType("a")
		event.SetSource("/s")
		if err := event.SetData(media, map[string]int{"x": 1}); err != nil {
			panic(err)
		}
		told("made as", event)
	}
	request, _ := http.NewRequest("POST", "http://localhost/", strings.NewReader(`{"x":1}`))
	for name, value := range map[string]string{"Ce-Id": "1", "Ce-Type": "a", "Ce-Source": "/s", "Ce-Specversion": "1.0", "Content-Type": "application/vnd.acme+json"} {
		request.Header.Set(name, value)
	}
	event, err := cloudevents.NewEventFromHTTPRequest(request)
	if err != nil {
		panic(err)
	}
	told("received as", *event)
}
GO
go mod init example.com/check 2>/dev/null
go get github.com/cloudevents/sdk-go/v2@v2.16.2 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
go run . | tee found
diff found - <<'TEXT'
made as application/json: {"x":1}
made as text/json: {"x":1}
made as application/vnd.acme+json: "{\"x\":1}"
received as application/vnd.acme+json: "{\"x\":1}"
TEXT
