#!/usr/bin/env bash
# The host GROẞ.example, with the capital sharp s (U+1E9E), as a name of DNS: tr46 7.0.0 (npm), idna 3.20 (PyPI) and golang.org/x/net 0.62.0
# (Go module).
#
# Expected: one name, that of groß.example, as UTS 46 folds letters' case first, and nontransitional processing keeps ß.
# Found: two names. Up to Unicode 15.0 the mapping table sent the capital letter to ss, and since 15.1 it sends it to ß. Go's module, of
# this month, still has the old table, as the URL of Node.js 20.20 does. So the capital spelling of a host is another host there, while
# the small spelling is the same everywhere.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts tr46@7.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check idna==3.20
cat > check.mjs <<'JS'
import tr46 from "tr46";

for (const host of ["groß.example", "GROẞ.example"]) console.log("tr46:", tr46.toASCII(host));
JS
cat > check.py <<'PY'
import idna

for host in ["groß.example", "GROẞ.example"]:
    print("idna:", idna.encode(host, uts46=True).decode())
PY
mkdir check
cat > check/main.go <<'GO'
package main

import (
	"fmt"

	"golang.org/x/net/idna"
)

func main() {
	for _, host := range []string{"groß.example", "GROẞ.example"} {
		name, err := idna.Lookup.ToASCII(host)
		if err != nil {
			panic(err)
		}
		fmt.Println("x/net/idna:", name)
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd check
go mod init example.com/check 2>/dev/null
go get golang.org/x/net/idna@v0.62.0 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
cd ..
{ node check.mjs; venv/bin/python check.py; (cd check && go run .); } | tee found
diff found - <<'TEXT'
tr46: xn--gro-7ka.example
tr46: xn--gro-7ka.example
idna: xn--gro-7ka.example
idna: xn--gro-7ka.example
x/net/idna: xn--gro-7ka.example
x/net/idna: gross.example
TEXT
