#!/usr/bin/env bash
# Structured fields of HTTP (RFC 9651): structured-headers 2.1.0 (npm) writes numbers, and structured-headers itself, http_sf 1.5.0 (PyPI)
# and github.com/dunglas/httpsfv 1.1.2 (Go module) read them.
#
# Expected: a number that is rounded to a whole one at the third digit is written with one digit behind the point, as 4.1.5 says: 1.0.
# Found: it is written as "1.", which no parser takes, nor the package itself. So one measured value, such as a duration of 1.0002
# seconds, costs the whole field.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts structured-headers@2.1.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check http-sf==1.5.0
cat > write.mjs <<'JS'
import { serializeDictionary } from "structured-headers";

for (const wait of [1.5, 1.0002, 0.0001, 1.25]) console.log(serializeDictionary({ wait, name: "a" }));
JS
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";
import { parseDictionary } from "structured-headers";

for (const field of readFileSync(0, "utf8").trim().split("\n")) {
  try {
    console.log(`structured-headers reads ${field}:`, parseDictionary(field).get("wait")[0]);
  } catch (error) {
    console.log(`structured-headers refuses ${field}:`, error.name);
  }
}
JS
cat > read.py <<'PY'
import sys
import http_sf

for field in sys.stdin.read().strip().split("\n"):
    try:
        print(f"http_sf reads {field}:", http_sf.parse(field.encode(), tltype="dictionary")["wait"][0])
    except http_sf.StructuredFieldError as error:
        print(f"http_sf refuses {field}:", error)
PY
mkdir read
cat > read/main.go <<'GO'
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/dunglas/httpsfv"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		field := lines.Text()
		dictionary, err := httpsfv.UnmarshalDictionary([]string{field})
		if err != nil {
			fmt.Printf("httpsfv refuses %s: %v\n", field, err)
			continue
		}
		wait, _ := dictionary.Get("wait")
		fmt.Printf("httpsfv reads %s: %v\n", field, wait.(httpsfv.Item).Value)
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd read
go mod init example.com/read 2>/dev/null
go get github.com/dunglas/httpsfv@v1.1.2 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
go build -o ../read.bin .
cd ..
node write.mjs > fields
{ node read.mjs < fields; venv/bin/python read.py < fields; ./read.bin < fields; } | tee found
diff found - <<'TEXT'
structured-headers reads wait=1.5, name="a": 1.5
structured-headers refuses wait=1., name="a": Error
structured-headers refuses wait=0., name="a": Error
structured-headers reads wait=1.25, name="a": 1.25
http_sf reads wait=1.5, name="a": 1.5
http_sf refuses wait=1., name="a": Decimal ends in '.' at position 6 (in 'wait')
http_sf refuses wait=0., name="a": Decimal ends in '.' at position 6 (in 'wait')
http_sf reads wait=1.25, name="a": 1.25
httpsfv reads wait=1.5, name="a": 1.5
httpsfv refuses wait=1., name="a": invalid decimal format: character 7
httpsfv refuses wait=0., name="a": invalid decimal format: character 7
httpsfv reads wait=1.25, name="a": 1.25
TEXT
