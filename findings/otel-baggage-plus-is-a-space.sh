#!/usr/bin/env bash
# The header `baggage` (W3C Baggage) of OpenTelemetry in three languages: opentelemetry-api 1.45.2 (PyPI), @opentelemetry/core 2.12.1 (npm)
# and go.opentelemetry.io/otel 1.47.0 (Go module). Each writes values, and each reads what the others wrote.
#
# Expected: each reads what was written, as the specification encodes a value by percent-encoding, which leaves + as it is, and a property
# after a semicolon is no part of the value.
# Found: Python encodes as for a query: a space is +, and + is a space. So "a b" of Python is "a+b" to the others, and "a+b" of Go is "a b"
# to Python. Python takes a property for the end of the value.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @opentelemetry/core@2.12.1 @opentelemetry/api@1.9.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check opentelemetry-api==1.45.2
cat > check.mjs <<'JS'
import api from "@opentelemetry/api";
import core from "@opentelemetry/core";

const { propagation, ROOT_CONTEXT, defaultTextMapGetter, defaultTextMapSetter } = api;
const propagator = new core.W3CBaggagePropagator();
const [verb, text] = process.argv.slice(2);
const carrier = { baggage: text };
if (verb === "write") {
  const context = propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage({ k: { value: text } }));
  propagator.inject(context, carrier, defaultTextMapSetter);
  console.log(carrier.baggage);
} else {
  const context = propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
  console.log(propagation.getBaggage(context).getEntry("k").value);
}
JS
cat > check.py <<'PY'
import sys
from opentelemetry.baggage import get_baggage, set_baggage
from opentelemetry.baggage.propagation import W3CBaggagePropagator

verb, text = sys.argv[1:]
if verb == "write":
    carrier = {}
    W3CBaggagePropagator().inject(carrier, set_baggage("k", text))
    print(carrier["baggage"])
else:
    print(get_baggage("k", W3CBaggagePropagator().extract({"baggage": text})))
PY
mkdir check
cat > check/main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	verb, text := os.Args[1], os.Args[2]
	carrier := propagation.MapCarrier{"baggage": text}
	if verb == "write" {
		written := must(baggage.New(must(baggage.NewMemberRaw("k", text))))
		propagation.Baggage{}.Inject(baggage.ContextWithBaggage(context.Background(), written), carrier)
		fmt.Println(carrier["baggage"])
	} else {
		read := propagation.Baggage{}.Extract(context.Background(), carrier)
		fmt.Println(baggage.FromContext(read).Member("k").Value())
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd check
go mod init example.com/check 2>/dev/null
go get go.opentelemetry.io/otel@v1.47.0 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
go build -o ../check.bin .
cd ..
python() { venv/bin/python check.py "$@"; }
javascript() { node check.mjs "$@"; }
golang() { ./check.bin "$@"; }
for text in "a b" "a+b" "ü,"; do
  for writer in python javascript golang; do
    header=$("$writer" write "$text")
    echo "\"$text\" of $writer is $header; read by python: $(python read "$header"), javascript: $(javascript read "$header"), golang: $(golang read "$header")"
  done
done | tee found
header="k=a;property=1"
echo "$header; read by python: $(python read "$header"), javascript: $(javascript read "$header"), golang: $(golang read "$header")" | tee -a found
diff found - <<'TEXT'
"a b" of python is k=a+b; read by python: a b, javascript: a+b, golang: a+b
"a b" of javascript is k=a%20b; read by python: a b, javascript: a b, golang: a b
"a b" of golang is k=a%20b; read by python: a b, javascript: a b, golang: a b
"a+b" of python is k=a%2Bb; read by python: a+b, javascript: a+b, golang: a+b
"a+b" of javascript is k=a%2Bb; read by python: a+b, javascript: a+b, golang: a+b
"a+b" of golang is k=a+b; read by python: a b, javascript: a+b, golang: a+b
"ü," of python is k=%C3%BC%2C; read by python: ü,, javascript: ü,, golang: ü,
"ü," of javascript is k=%C3%BC%2C; read by python: ü,, javascript: ü,, golang: ü,
"ü," of golang is k=%C3%BC%2C; read by python: ü,, javascript: ü,, golang: ü,
k=a;property=1; read by python: a;property=1, javascript: a, golang: a
TEXT
