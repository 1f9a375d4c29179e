#!/usr/bin/env bash
# JSONata: jsonata 2.2.2 (npm, the reference) beside two ports, jsonata-python 0.7.1 (PyPI) and github.com/blues/jsonata-go 1.5.4 (Go module).
#
# Expected: the same results.
# Found: jsonata-python writes an integer of sixteen digits in scientific notation with fifteen of them, so a text with an id has another
# id. It counts null as nothing, and writes 1.0 and é of an object otherwise. Go's takes null for absent: a merge leaves the old value, $exists is
# false, and a comparison with null finds nothing. It encodes a space as + within $encodeUrlComponent.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts jsonata@2.2.2
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jsonata-python==0.7.1
cat > expressions.json <<'JSON'
[
  ["'order ' & id", { "id": 123456789012345 }],
  ["'order ' & id", { "id": 1234567890123456 }],
  ["$count(a)", { "a": null }],
  ["$exists(a)", { "a": null }],
  ["a = null", { "a": null }],
  ["$merge([old, new])", { "old": { "note": "x" }, "new": { "note": null } }],
  ["a.$string()", { "a": [1, null, true] }],
  ["$string(a)", { "a": { "b": 1.0, "c": "é" } }],
  ["$string(0.1 + 0.2)", {}],
  ["$encodeUrlComponent('a b')", {}]
]
JSON
cat > check.mjs <<'JS'
import { readFileSync } from "node:fs";
import jsonata from "jsonata";

for (const [expression, input] of JSON.parse(readFileSync("expressions.json")))
  console.log(expression, "is, by jsonata:", JSON.stringify(await jsonata(expression).evaluate(input)));
JS
cat > check.py <<'PY'
import json
from jsonata import Jsonata

for expression, value in json.load(open("expressions.json")):
    found = json.dumps(Jsonata(expression).evaluate(value), ensure_ascii=False, separators=(",", ":"))
    print(expression, "is, by jsonata-python:", found)
PY
mkdir check
cat > check/main.go <<'GO'
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/blues/jsonata-go"
)

func main() {
	var expressions [][2]any
	if err := json.NewDecoder(os.Stdin).Decode(&expressions); err != nil {
		panic(err)
	}
	for _, each := range expressions {
		found, err := jsonata.MustCompile(each[0].(string)).Eval(each[1])
		if err != nil && !errors.Is(err, jsonata.ErrUndefined) {
			panic(err)
		}
		text, _ := json.Marshal(found)
		fmt.Printf("%s is, by Go's: %s\n", each[0], text)
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd check
go mod init example.com/check 2>/dev/null
go get github.com/blues/jsonata-go@v1.5.4 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
cd ..
{ node check.mjs; venv/bin/python check.py; (cd check && go run .) < expressions.json; } | tee found
diff found - <<'TEXT'
'order ' & id is, by jsonata: "order 123456789012345"
'order ' & id is, by jsonata: "order 1234567890123456"
$count(a) is, by jsonata: 1
$exists(a) is, by jsonata: true
a = null is, by jsonata: true
$merge([old, new]) is, by jsonata: {"note":null}
a.$string() is, by jsonata: ["1","null","true"]
$string(a) is, by jsonata: "{\"b\":1,\"c\":\"é\"}"
$string(0.1 + 0.2) is, by jsonata: "0.3"
$encodeUrlComponent('a b') is, by jsonata: "a%20b"
'order ' & id is, by jsonata-python: "order 123456789012345"
'order ' & id is, by jsonata-python: "order 1.23456789012346e+15"
$count(a) is, by jsonata-python: 0
$exists(a) is, by jsonata-python: true
a = null is, by jsonata-python: true
$merge([old, new]) is, by jsonata-python: {"note":null}
a.$string() is, by jsonata-python: ["1","true"]
$string(a) is, by jsonata-python: "{\"b\":1.0,\"c\":\"\\u00e9\"}"
$string(0.1 + 0.2) is, by jsonata-python: "0.3"
$encodeUrlComponent('a b') is, by jsonata-python: "a%20b"
'order ' & id is, by Go's: "order 123456789012345"
'order ' & id is, by Go's: "order 1234567890123456"
$count(a) is, by Go's: 0
$exists(a) is, by Go's: false
a = null is, by Go's: false
$merge([old, new]) is, by Go's: {"note":"x"}
a.$string() is, by Go's: ["1","true"]
$string(a) is, by Go's: "{\"b\":1,\"c\":\"é\"}"
$string(0.1 + 0.2) is, by Go's: "0.30000000000000004"
$encodeUrlComponent('a b') is, by Go's: "a+b"
TEXT
