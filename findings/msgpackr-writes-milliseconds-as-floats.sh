#!/usr/bin/env bash
# An integer of more than 32 bits, as a time in milliseconds is: msgpackr 2.1.4 and cbor-x 1.6.9 (npm) write it, and strict readers read it:
# msgspec 0.23.0 and cbor2 6.3.0 (PyPI), github.com/vmihailenco/msgpack/v5 5.4.1 and github.com/fxamacker/cbor/v2 2.10.0 (Go modules).
#
# Expected: it arrives as an integer, as MessagePack and CBOR have 64 bits for integers, @msgpack/msgpack 3.1.3 and cborg 6.1.5 (npm) write
# it so, and the documents of both packages speak of floats for numbers that are no integers.
# Found: both write a float of 64 bits. A reader that wants an integer refuses it (msgspec, both of Go), and another one gets 1764374400123.0.
# Numbers up to 4294967295 are integers, so a test with small ones finds nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts msgpackr@2.1.4 cbor-x@1.6.9 @msgpack/msgpack@3.1.3 cborg@6.1.5
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cbor2==6.3.0 msgspec==0.23.0
cat > write.mjs <<'JS'
import * as msgpack from "@msgpack/msgpack";
import * as cborX from "cbor-x";
import * as cborg from "cborg";
import * as msgpackr from "msgpackr";

for (const number of [4294967295, 1764374400123]) {
  const written = {
    "MessagePack @msgpack/msgpack": msgpack.encode(number),
    "MessagePack msgpackr": msgpackr.pack(number),
    "CBOR cborg": cborg.encode(number),
    "CBOR cbor-x": cborX.encode(number),
  };
  for (const [name, bytes] of Object.entries(written)) console.log(name, number, Buffer.from(bytes).toString("hex"));
}
JS
cat > read.py <<'PY'
import sys
import cbor2, msgspec

def read(format, content):
    if format == "CBOR":
        return cbor2.loads(content)
    try:
        return msgspec.msgpack.decode(content, type=int)
    except msgspec.ValidationError as error:
        return f"refused: {error}"

for line in sys.stdin:
    format, writer, number, content = line.split()
    print(f"Python reads {number} of {writer}, {content}:", read(format, bytes.fromhex(content)))
PY
mkdir read
cat > read/main.go <<'GO'
package main

import (
	"encoding/hex"
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"
)

func main() {
	for {
		var format, writer, number, content string
		if _, err := fmt.Scan(&format, &writer, &number, &content); err != nil {
			return
		}
		bytes, err := hex.DecodeString(content)
		if err != nil {
			panic(err)
		}
		read := map[string]func([]byte, any) error{"CBOR": cbor.Unmarshal, "MessagePack": func(bytes []byte, into any) error { return msgpack.Unmarshal(bytes, into) }}
		var found int64
		if err := read[format](bytes, &found); err != nil {
			fmt.Printf("Go refuses %s of %s: %v\n", number, writer, err)
			continue
		}
		fmt.Printf("Go reads %s of %s: %d\n", number, writer, found)
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd read
go mod init example.com/read 2>/dev/null
go get github.com/vmihailenco/msgpack/v5@v5.4.1 github.com/fxamacker/cbor/v2@v2.10.0 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
cd ..
node write.mjs > written
venv/bin/python read.py < written | tee found
(cd read && go run .) < written | tee -a found
diff found - <<'TEXT'
Python reads 4294967295 of @msgpack/msgpack, ceffffffff: 4294967295
Python reads 4294967295 of msgpackr, ceffffffff: 4294967295
Python reads 4294967295 of cborg, 1affffffff: 4294967295
Python reads 4294967295 of cbor-x, 1affffffff: 4294967295
Python reads 1764374400123 of @msgpack/msgpack, cf0000019acce8cc7b: 1764374400123
Python reads 1764374400123 of msgpackr, cb4279acce8cc7b000: refused: Expected `int`, got `float`
Python reads 1764374400123 of cborg, 1b0000019acce8cc7b: 1764374400123
Python reads 1764374400123 of cbor-x, fb4279acce8cc7b000: 1764374400123.0
Go reads 4294967295 of @msgpack/msgpack: 4294967295
Go reads 4294967295 of msgpackr: 4294967295
Go reads 4294967295 of cborg: 4294967295
Go reads 4294967295 of cbor-x: 4294967295
Go reads 1764374400123 of @msgpack/msgpack: 1764374400123
Go refuses 1764374400123 of msgpackr: msgpack: invalid code=cb decoding int64
Go reads 1764374400123 of cborg: 1764374400123
Go refuses 1764374400123 of cbor-x: cbor: cannot unmarshal primitives into Go value of type int64
TEXT
