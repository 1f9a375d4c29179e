#!/usr/bin/env bash
# Liquid with values of JSON: liquidjs 10.30.1 (npm), python-liquid 2.3.6 (PyPI) and github.com/osteele/liquid 1.6.0 (Go module), each
# without options.
#
# Expected: what Shopify's liquid 5.4.0 for Ruby writes: null is nothing, true is true, a half is rounded up, conditions are read from the
# right, and an empty text is empty. liquidjs does so.
# Found: python-liquid writes None and True wherever a filter takes a null or a list has one, writes a list in a list as Python does, and
# rounds 2.5 to 2. Go's reads conditions from the left, says that no text is empty, divides 7.0 by 2 into 3, and leaves out what is null in
# a list.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts liquidjs@10.30.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check python-liquid==2.3.6
cat > templates.json <<'JSON'
[
  ["{{ x | append: y }}", { "x": "a", "y": null }],
  ["{{ x | append: y }}", { "x": "a", "y": true }],
  ["{{ x | map: 'a' | join: ',' }}", { "x": [{ "a": 1 }, { "a": null }, { "a": 2 }] }],
  ["{{ x }}", { "x": [1, [2, "a"], null] }],
  ["{{ 2.5 | round }}", {}],
  ["{{ 7.0 | divided_by: 2 }}", {}],
  ["{% if x == empty %}empty{% else %}full{% endif %}", { "x": "" }],
  ["{% if true or false and false %}yes{% else %}no{% endif %}", {}]
]
JSON
cat > check.mjs <<'JS'
import { readFileSync } from "node:fs";
import { Liquid } from "liquidjs";

for (const [template, data] of JSON.parse(readFileSync("templates.json")))
  console.log(template, "is, by liquidjs:", new Liquid().parseAndRenderSync(template, data));
JS
cat > check.py <<'PY'
import json
from liquid import Environment

for template, data in json.load(open("templates.json")):
    print(template, "is, by python-liquid:", Environment().from_string(template).render(**data))
PY
mkdir check
cat > check/main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/osteele/liquid"
)

func main() {
	var templates [][2]any
	if err := json.NewDecoder(os.Stdin).Decode(&templates); err != nil {
		panic(err)
	}
	for _, each := range templates {
		text, err := liquid.NewEngine().ParseAndRenderString(each[0].(string), each[1].(map[string]any))
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
go get github.com/osteele/liquid@v1.6.0 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
cd ..
{ node check.mjs; venv/bin/python check.py; (cd check && go run .) < templates.json; } | tee found
diff found - <<'TEXT'
{{ x | append: y }} is, by liquidjs: a
{{ x | append: y }} is, by liquidjs: atrue
{{ x | map: 'a' | join: ',' }} is, by liquidjs: 1,,2
{{ x }} is, by liquidjs: 12a
{{ 2.5 | round }} is, by liquidjs: 3
{{ 7.0 | divided_by: 2 }} is, by liquidjs: 3.5
{% if x == empty %}empty{% else %}full{% endif %} is, by liquidjs: empty
{% if true or false and false %}yes{% else %}no{% endif %} is, by liquidjs: yes
{{ x | append: y }} is, by python-liquid: aNone
{{ x | append: y }} is, by python-liquid: aTrue
{{ x | map: 'a' | join: ',' }} is, by python-liquid: 1,None,2
{{ x }} is, by python-liquid: 1[2, 'a']None
{{ 2.5 | round }} is, by python-liquid: 2
{{ 7.0 | divided_by: 2 }} is, by python-liquid: 3.5
{% if x == empty %}empty{% else %}full{% endif %} is, by python-liquid: empty
{% if true or false and false %}yes{% else %}no{% endif %} is, by python-liquid: yes
{{ x | append: y }} is, by Go's: a
{{ x | append: y }} is, by Go's: atrue
{{ x | map: 'a' | join: ',' }} is, by Go's: 1,2
{{ x }} is, by Go's: 12a
{{ 2.5 | round }} is, by Go's: 3
{{ 7.0 | divided_by: 2 }} is, by Go's: 3
{% if x == empty %}empty{% else %}full{% endif %} is, by Go's: full
{% if true or false and false %}yes{% else %}no{% endif %} is, by Go's: no
TEXT
