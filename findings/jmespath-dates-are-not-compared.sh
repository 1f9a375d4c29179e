#!/usr/bin/env bash
# JMESPath over events with dates as text: jmespath 0.16.0 (npm), jmespath 1.1.0 (PyPI), @jmespath-community/jmespath 1.3.0 (npm) and
# github.com/jmespath/go-jmespath 0.4.0 (Go module).
#
# Expected: max_by and min_by take texts, as the specification says, and sort_by does. `<` is for numbers only, and gives null for texts.
# Found: npm's jmespath finds nothing as the newest event, without an error, and so does the community's. `<` compares texts in npm's jmespath
# and in Python, so a filter by date works there, and the same filter finds nothing in Go and in the community's. A list that has true contains 1
# in Python.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts jmespath@0.16.0 @jmespath-community/jmespath@1.3.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jmespath==1.1.0
cat > input.json <<'JSON'
{ "events": [{ "id": 1, "at": "2026-01-01" }, { "id": 2, "at": "2026-03-01" }, { "id": 3, "at": "2026-02-01" }], "flags": [true] }
JSON
cat > expressions <<'TEXT'
max_by(events, &at).id
min_by(events, &at).id
sort_by(events, &at)[-1].id
max(events[].at)
events[?at > '2026-01-15'].id
contains(flags, `1`)
TEXT
cat > check.mjs <<'JS'
import { readFileSync } from "node:fs";
import { search as community } from "@jmespath-community/jmespath";
import jmespath from "jmespath";

const input = JSON.parse(readFileSync("input.json"));
for (const [name, search] of Object.entries({ "jmespath of npm": jmespath.search, "the community's": community }))
  for (const expression of readFileSync("expressions", "utf8").trim().split("\n"))
    console.log(`${expression} is, by ${name}:`, JSON.stringify(search(input, expression) ?? null));
JS
cat > check.py <<'PY'
import json
import jmespath

data = json.load(open("input.json"))
for expression in open("expressions").read().strip().split("\n"):
    print(f"{expression} is, by jmespath of PyPI:", json.dumps(jmespath.search(expression, data), separators=(",", ":")))
PY
mkdir check
cat > check/main.go <<'GO'
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/jmespath/go-jmespath"
)

func main() {
	text, err := os.ReadFile("../input.json")
	if err != nil {
		panic(err)
	}
	var input any
	if err := json.Unmarshal(text, &input); err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		found, err := jmespath.Search(lines.Text(), input)
		if err != nil {
			panic(err)
		}
		written, _ := json.Marshal(found)
		fmt.Printf("%s is, by Go's: %s\n", lines.Text(), written)
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd check
go mod init example.com/check 2>/dev/null
go get github.com/jmespath/go-jmespath@v0.4.0 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
cd ..
{ node check.mjs; venv/bin/python check.py; (cd check && go run .) < expressions; } | tee found
diff found - <<'TEXT'
max_by(events, &at).id is, by jmespath of npm: null
min_by(events, &at).id is, by jmespath of npm: null
sort_by(events, &at)[-1].id is, by jmespath of npm: 2
max(events[].at) is, by jmespath of npm: "2026-03-01"
events[?at > '2026-01-15'].id is, by jmespath of npm: [2,3]
contains(flags, `1`) is, by jmespath of npm: false
max_by(events, &at).id is, by the community's: null
min_by(events, &at).id is, by the community's: null
sort_by(events, &at)[-1].id is, by the community's: 2
max(events[].at) is, by the community's: "2026-03-01"
events[?at > '2026-01-15'].id is, by the community's: []
contains(flags, `1`) is, by the community's: false
max_by(events, &at).id is, by jmespath of PyPI: 2
min_by(events, &at).id is, by jmespath of PyPI: 1
sort_by(events, &at)[-1].id is, by jmespath of PyPI: 2
max(events[].at) is, by jmespath of PyPI: "2026-03-01"
events[?at > '2026-01-15'].id is, by jmespath of PyPI: [2,3]
contains(flags, `1`) is, by jmespath of PyPI: true
max_by(events, &at).id is, by Go's: 2
min_by(events, &at).id is, by Go's: 1
sort_by(events, &at)[-1].id is, by Go's: 2
max(events[].at) is, by Go's: "2026-03-01"
events[?at > '2026-01-15'].id is, by Go's: []
contains(flags, `1`) is, by Go's: false
TEXT
