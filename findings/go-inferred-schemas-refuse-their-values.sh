#!/usr/bin/env bash
# github.com/google/jsonschema-go 0.4.3 and github.com/invopop/jsonschema 0.14.0 (Go modules) infer a schema from a type of Go. Then the
# value, as encoding/json of Go 1.26 writes it, is validated against that schema.
#
# Expected: each schema accepts its value, as both libraries follow the tags of encoding/json.
# Found: google/jsonschema-go takes []byte for an array of integers, though encoding/json writes base64, and refuses json.RawMessage,
# json.Number, big.Int, netip.Addr, the option `string` and a nil map. invopop/jsonschema knows []byte and `string`, but refuses nil
# pointers, slices and maps, and says that a url.URL, which is written as an object, is a text. Neither knows that types with MarshalText
# are texts.
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
	"math/big"
	"net/netip"
	"net/url"
	"time"

	google "github.com/google/jsonschema-go/jsonschema"
	"github.com/invopop/jsonschema"
)

func verdict(schema *google.Schema, text []byte) string {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(err)
	}
	if resolved.Validate(value) != nil {
		return "refuses"
	}
	return "accepts"
}

func check[T any](name string, value T) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	inferred, err := google.For[T](nil)
	if err != nil {
		panic(err)
	}
	reflected, err := json.Marshal((&jsonschema.Reflector{DoNotReference: true, Anonymous: true}).Reflect(value))
	if err != nil {
		panic(err)
	}
	var parsed google.Schema
	if err := json.Unmarshal(reflected, &parsed); err != nil {
		panic(err)
	}
	fmt.Printf("%s: google %s, invopop %s\n", name, verdict(inferred, text), verdict(&parsed, text))
}

func main() {
	check("text", struct{ A string }{"a"})
	check("time", struct{ A time.Time }{time.Unix(0, 0).UTC()})
	check("bytes", struct{ A []byte }{[]byte("a")})
	check("raw message", struct{ A json.RawMessage }{json.RawMessage(`{"b":1}`)})
	check("json.Number", struct{ A json.Number }{"1.5"})
	check("big.Int", struct{ A *big.Int }{big.NewInt(7)})
	check("option string", struct {
		A int `json:",string"`
	}{7})
	check("netip.Addr", struct{ A netip.Addr }{netip.MustParseAddr("192.0.2.7")})
	check("url.URL", struct{ A url.URL }{url.URL{Host: "example.com"}})
	check("nil pointer", struct{ A *int }{})
	check("nil slice", struct{ A []string }{})
	check("nil map", struct{ A map[string]int }{})
}
GO
go mod init example.com/check 2>/dev/null
go get github.com/google/jsonschema-go@v0.4.3 github.com/invopop/jsonschema@v0.14.0 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
go run . | tee found
diff found - <<'TEXT'
text: google accepts, invopop accepts
time: google accepts, invopop accepts
bytes: google refuses, invopop accepts
raw message: google refuses, invopop accepts
json.Number: google refuses, invopop refuses
big.Int: google refuses, invopop refuses
option string: google refuses, invopop accepts
netip.Addr: google refuses, invopop refuses
url.URL: google accepts, invopop refuses
nil pointer: google accepts, invopop refuses
nil slice: google accepts, invopop refuses
nil map: google refuses, invopop refuses
TEXT
