#!/usr/bin/env bash
# github.com/goccy/go-yaml 1.19.2 beside gopkg.in/yaml.v3 3.0.1 and go.yaml.in/yaml/v4 4.0.0 (Go modules): a value is written in a map and
# read again.
#
# Expected: the same value of the same type.
# Found: goccy/go-yaml writes a large or a small float with an exponent and without a point, and reads that as a text, as it reads 1e3 and
# +.inf in files of others. Both are floats (YAML 1.2.2, 10.3.2). Texts that read .inf and .NaN are written without quotes, and come
# back as floats. A tab in front of a text is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
mkdir "$folder/check"
cd "$folder/check"
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cat > main.go <<'GO'
package main

import (
	"fmt"

	goccy "github.com/goccy/go-yaml"
	four "go.yaml.in/yaml/v4"
	three "gopkg.in/yaml.v3"
)

func again(value any, write func(any) ([]byte, error), read func([]byte, any) error) string {
	text, err := write(map[string]any{"v": value})
	if err != nil {
		return err.Error()
	}
	var found map[string]any
	if err := read(text, &found); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%T %#v", found["v"], found["v"])
}

func main() {
	for _, value := range []any{1e21, 1e-7, ".inf", ".NaN", "\ttab"} {
		fmt.Printf("%T %#v\n", value, value)
		fmt.Println("  goccy:", again(value, func(v any) ([]byte, error) { return goccy.Marshal(v) }, func(b []byte, v any) error { return goccy.Unmarshal(b, v) }))
		fmt.Println("  yaml.v3:", again(value, three.Marshal, three.Unmarshal))
		fmt.Println("  yaml/v4:", again(value, func(v any) ([]byte, error) { return four.Marshal(v) }, func(b []byte, v any) error { return four.Unmarshal(b, v) }))
	}
}
GO
go mod init example.com/check 2>/dev/null
go get github.com/goccy/go-yaml@v1.19.2 gopkg.in/yaml.v3@v3.0.1 go.yaml.in/yaml/v4@v4.0.0 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
go run . | tee found
diff found - <<'TEXT'
float64 1e+21
  goccy: string "1e+21"
  yaml.v3: float64 1e+21
  yaml/v4: float64 1e+21
float64 1e-07
  goccy: string "1e-07"
  yaml.v3: float64 1e-07
  yaml/v4: float64 1e-07
string ".inf"
  goccy: float64 +Inf
  yaml.v3: string ".inf"
  yaml/v4: string ".inf"
string ".NaN"
  goccy: float64 NaN
  yaml.v3: string ".NaN"
  yaml/v4: string ".NaN"
string "\ttab"
  goccy: string "tab"
  yaml.v3: string "\ttab"
  yaml/v4: string "\ttab"
TEXT
