#!/usr/bin/env bash
# Files of environment variables: python-dotenv 1.2.4 (PyPI, set_key) and github.com/joho/godotenv 1.5.1 (Go module, Write) write one, and
# both read it, and dotenv 18.0.10 (npm) and parseEnv of node:util (Node.js 20.20).
#
# Expected: what a writer wrote is read as it was, at least by its own reader, and a writer escapes as the many readers of such files expect.
# Found: no other reader takes back what python-dotenv escapes: C:\new has two backslashes, it's has one, and Node.js ends at the apostrophe.
# godotenv writes 007 as 7, and does not read back a text with both kinds of quotes. JSON of godotenv ends at its second sign for Node.js.
# Where python-dotenv has written ${HOME}, it reads the variable's value.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts dotenv@18.0.10
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check python-dotenv==1.2.4
cat > values.json <<'JSON'
{
  "JSON": "{\"a\":1}",
  "NAME": "it's",
  "BOTH": "it's \"x\"",
  "FOLDER": "C:\\new",
  "PRICE": "a$b",
  "HOME_OF": "${HOME}",
  "CODE": "007",
  "TEXT": "a\nb #c"
}
JSON
cat > python.py <<'PY'
import json, sys
import dotenv

verb, file = sys.argv[1:]
if verb == "write":
    for name, value in json.load(open("values.json")).items():
        dotenv.set_key(file, name, value)
else:
    print(json.dumps(dotenv.dotenv_values(file)))
PY
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import dotenv from "dotenv";

const [reader, file] = process.argv.slice(2);
const text = readFileSync(file, "utf8");
console.log(JSON.stringify(reader === "dotenv" ? dotenv.parse(text) : parseEnv(text)));
JS
cat > compare.mjs <<'JS'
import { readFileSync } from "node:fs";

const [writer, reader] = process.argv.slice(2);
const found = JSON.parse(readFileSync(0));
for (const [name, value] of Object.entries(JSON.parse(readFileSync("values.json"))))
  if (found[name] !== value) console.log(`${value} of ${writer} is ${found[name]} to ${reader}`);
JS
mkdir golang
cat > golang/main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/joho/godotenv"
)

func main() {
	verb, file := os.Args[1], os.Args[2]
	values := map[string]string{}
	if verb == "write" {
		text, err := os.ReadFile("values.json")
		if err != nil {
			panic(err)
		}
		if err := json.Unmarshal(text, &values); err != nil {
			panic(err)
		}
		if err := godotenv.Write(values, file); err != nil {
			panic(err)
		}
		return
	}
	values, err := godotenv.Read(file)
	if err != nil {
		panic(err)
	}
	text, _ := json.Marshal(values)
	fmt.Println(string(text))
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd golang
go mod init example.com/golang 2>/dev/null
go get github.com/joho/godotenv@v1.5.1 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
go build -o ../golang.bin .
cd ..
export HOME=/home
venv/bin/python python.py write python-dotenv.env
./golang.bin write godotenv.env
for writer in python-dotenv godotenv; do
  file=$writer.env
  venv/bin/python python.py read "$file" | node compare.mjs "$writer" python-dotenv
  ./golang.bin read "$file" | node compare.mjs "$writer" godotenv
  for reader in dotenv parseEnv; do node read.mjs "$reader" "$file" | node compare.mjs "$writer" "$reader"; done
done | tee found
diff found - <<'TEXT'
${HOME} of python-dotenv is /home to python-dotenv
it's of python-dotenv is it\'s to godotenv
it's "x" of python-dotenv is it\'s "x" to godotenv
C:\new of python-dotenv is C:\\new to godotenv
it's of python-dotenv is it\'s to dotenv
it's "x" of python-dotenv is it\'s "x" to dotenv
C:\new of python-dotenv is C:\\new to dotenv
it's of python-dotenv is it\ to parseEnv
it's "x" of python-dotenv is it\ to parseEnv
C:\new of python-dotenv is C:\\new to parseEnv
a$b of godotenv is a\$b to python-dotenv
${HOME} of godotenv is \/home to python-dotenv
007 of godotenv is 7 to python-dotenv
it's "x" of godotenv is it's "x\ to godotenv
007 of godotenv is 7 to godotenv
{"a":1} of godotenv is {\"a\":1} to dotenv
it's "x" of godotenv is it's \"x\" to dotenv
C:\new of godotenv is C:\
ew to dotenv
a$b of godotenv is a\$b to dotenv
${HOME} of godotenv is \${HOME} to dotenv
007 of godotenv is 7 to dotenv
{"a":1} of godotenv is {\ to parseEnv
it's "x" of godotenv is it's \ to parseEnv
C:\new of godotenv is C:\
ew to parseEnv
a$b of godotenv is a\$b to parseEnv
${HOME} of godotenv is \${HOME} to parseEnv
007 of godotenv is 7 to parseEnv
TEXT
