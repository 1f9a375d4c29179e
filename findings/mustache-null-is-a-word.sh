#!/usr/bin/env bash
# Mustache with values of JSON: mustache 4.2.0 (npm), pystache 0.6.8 and chevron 0.14.0 (PyPI), github.com/cbroglie/mustache 1.4.2 (Go
# module).
#
# Expected: the same text. The specification's tests want nothing for null, and want that a dotted name is looked for in its first part only.
# Found: null is the word None in pystache and <nil> in Go, and chevron leaves a null of a list out with its comma. A million is 1e+06 in
# Go, and true is True in Python. If an order has a customer without a name, mustache and chevron write the name of another customer, whom
# they find in the outer context.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts mustache@4.2.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check chevron==0.14.0 pystache==0.6.8
cat > templates.json <<'JSON'
[
  ["note: {{note}}", { "note": null }],
  ["{{#notes}}{{.}},{{/notes}}", { "notes": ["a", null, "b"] }],
  ["{{amount}} {{paid}}", { "amount": 1000000, "paid": true }],
  ["{{#order}}for {{customer.name}}{{/order}}", { "order": { "customer": {} }, "customer": { "name": "Ann" } }]
]
JSON
cat > check.mjs <<'JS'
import { readFileSync } from "node:fs";
import mustache from "mustache";

for (const [template, data] of JSON.parse(readFileSync("templates.json"))) console.log(template, "is, by mustache:", mustache.render(template, data));
JS
cat > check.py <<'PY'
import json
import chevron, pystache

for render in (pystache.render, chevron.render):
    for template, data in json.load(open("templates.json")):
        print(template, f"is, by {render.__module__.split('.')[0]}:", render(template, data))
PY
mkdir check
cat > check/main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/cbroglie/mustache"
)

func main() {
	var templates [][2]any
	if err := json.NewDecoder(os.Stdin).Decode(&templates); err != nil {
		panic(err)
	}
	for _, each := range templates {
		text, err := mustache.Render(each[0].(string), each[1])
		if err != nil {
			panic(err)
		}
		fmt.Println(each[0], "is, by Go's:", text)
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd check
go mod init example.com/check 2>/dev/null
go get github.com/cbroglie/mustache@v1.4.2 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
cd ..
{ node check.mjs; venv/bin/python check.py; (cd check && go run .) < templates.json; } | tee found
diff found - <<'TEXT'
note: {{note}} is, by mustache: note: 
{{#notes}}{{.}},{{/notes}} is, by mustache: a,,b,
{{amount}} {{paid}} is, by mustache: 1000000 true
{{#order}}for {{customer.name}}{{/order}} is, by mustache: for Ann
note: {{note}} is, by pystache: note: None
{{#notes}}{{.}},{{/notes}} is, by pystache: a,None,b,
{{amount}} {{paid}} is, by pystache: 1000000 True
{{#order}}for {{customer.name}}{{/order}} is, by pystache: for 
note: {{note}} is, by chevron: note: 
{{#notes}}{{.}},{{/notes}} is, by chevron: a,b,
{{amount}} {{paid}} is, by chevron: 1000000 True
{{#order}}for {{customer.name}}{{/order}} is, by chevron: for Ann
note: {{note}} is, by Go's: note: &lt;nil&gt;
{{#notes}}{{.}},{{/notes}} is, by Go's: a,&lt;nil&gt;,b,
{{amount}} {{paid}} is, by Go's: 1e+06 true
{{#order}}for {{customer.name}}{{/order}} is, by Go's: for 
TEXT
