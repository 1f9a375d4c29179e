#!/usr/bin/env bash
# Parsers of the header Link (RFC 8288), by which an API names the next page: http-link-header 1.1.4 and parse-link-header 2.0.0 (npm),
# requests 2.34.2 (PyPI) and github.com/tomnomnom/linkheader of 2025-08-11 (Go module).
#
# Expected: each finds the link "next". A URL may have commas and semicolons, a parameter may have no value, a name may be in capital letters,
# and there may be spaces around "=".
# Found: Go's package finds no link at all if a URL has a comma or a semicolon. requests cuts a URL at a semicolon, and ends at a parameter
# without a value. http-link-header takes such a parameter and the one behind it for one name. Names in capital letters are unknown to
# parse-link-header and requests, spaces to parse-link-header and Go's.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts http-link-header@1.1.4 parse-link-header@2.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check requests==2.34.2
cat > headers <<'TEXT'
<https://example.com/?page=2>; rel="next"
<https://example.com/?id=1,2>; rel="next"
<https://example.com/a;b?page=2>; rel="next"
<https://example.com/>; crossorigin; rel="next"
<https://example.com/>; REL="next"
<https://example.com/>; rel = "next"
TEXT
cat > check.mjs <<'JS'
import { readFileSync } from "node:fs";
import LinkHeader from "http-link-header";
import parse from "parse-link-header";

const headers = readFileSync("headers", "utf8").trim().split("\n");
for (const header of headers) console.log("http-link-header:", header, "is", LinkHeader.parse(header).rel("next")[0]?.uri ?? "nothing");
for (const header of headers) console.log("parse-link-header:", header, "is", parse(header)?.next?.url ?? "nothing");
JS
cat > check.py <<'PY'
import requests

response = requests.Response()
for header in open("headers").read().strip().split("\n"):
    response.headers["Link"] = header
    print("requests:", header, "is", response.links.get("next", {}).get("url", "nothing"))
PY
mkdir check
cat > check/main.go <<'GO'
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/tomnomnom/linkheader"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		found := "nothing"
		for _, link := range linkheader.Parse(lines.Text()).FilterByRel("next") {
			found = link.URL
		}
		fmt.Println("linkheader:", lines.Text(), "is", found)
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd check
go mod init example.com/check 2>/dev/null
go get github.com/tomnomnom/linkheader@v0.0.0-20250811210735-e5fe3b51442e >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
cd ..
{ node check.mjs; venv/bin/python check.py; (cd check && go run .) < headers; } | tee found
diff found - <<'TEXT'
http-link-header: <https://example.com/?page=2>; rel="next" is https://example.com/?page=2
http-link-header: <https://example.com/?id=1,2>; rel="next" is https://example.com/?id=1,2
http-link-header: <https://example.com/a;b?page=2>; rel="next" is https://example.com/a;b?page=2
http-link-header: <https://example.com/>; crossorigin; rel="next" is nothing
http-link-header: <https://example.com/>; REL="next" is https://example.com/
http-link-header: <https://example.com/>; rel = "next" is https://example.com/
parse-link-header: <https://example.com/?page=2>; rel="next" is https://example.com/?page=2
parse-link-header: <https://example.com/?id=1,2>; rel="next" is https://example.com/?id=1,2
parse-link-header: <https://example.com/a;b?page=2>; rel="next" is https://example.com/a;b?page=2
parse-link-header: <https://example.com/>; crossorigin; rel="next" is https://example.com/
parse-link-header: <https://example.com/>; REL="next" is nothing
parse-link-header: <https://example.com/>; rel = "next" is nothing
requests: <https://example.com/?page=2>; rel="next" is https://example.com/?page=2
requests: <https://example.com/?id=1,2>; rel="next" is https://example.com/?id=1,2
requests: <https://example.com/a;b?page=2>; rel="next" is https://example.com/a
requests: <https://example.com/>; crossorigin; rel="next" is nothing
requests: <https://example.com/>; REL="next" is nothing
requests: <https://example.com/>; rel = "next" is https://example.com/
linkheader: <https://example.com/?page=2>; rel="next" is https://example.com/?page=2
linkheader: <https://example.com/?id=1,2>; rel="next" is nothing
linkheader: <https://example.com/a;b?page=2>; rel="next" is nothing
linkheader: <https://example.com/>; crossorigin; rel="next" is https://example.com/
linkheader: <https://example.com/>; REL="next" is https://example.com/
linkheader: <https://example.com/>; rel = "next" is nothing
TEXT
