#!/usr/bin/env bash
# Clients of HTTP and an answer with `Content-Encoding: gzip` whose body is two gzip members, one behind the other, as a server sends that
# joins compressed parts: pyreqwest 0.15.1 and primp 2.0.1 (on Rust's reqwest), httpx 0.28.1, httpx2 2.16.2, requests 2.34.2 with urllib3
# 2.8.0, aiohttp 3.14.5 (all PyPI), and got 16.1.0 and axios 1.21.1 (npm).
#
# Expected: both members, as RFC 9110 (8.4.1.3) takes the coding from RFC 1952, where a file is a series of members (2.2).
# Found: the two on reqwest and both httpx give the first member alone, with status 200 and no error. The others give both.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts got@16.1.0 axios@1.21.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pyreqwest==0.15.1 primp==2.0.1 httpx==0.28.1 httpx2==2.16.2 requests==2.34.2 urllib3==2.8.0 aiohttp==3.14.5
cat > serve.py <<'PY'
import gzip
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = gzip.compress(b"one") + gzip.compress(b"two")
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
PY
cat > check.py <<'PY'
import asyncio, sys
import aiohttp, httpx, httpx2, primp, requests
from pyreqwest.client import SyncClientBuilder

url = sys.argv[1]
with SyncClientBuilder().gzip(True).build() as client:
    print("pyreqwest:", client.get(url).build().send().text())
print("primp:", primp.Client().get(url).text)
print("httpx:", httpx.get(url).text)
print("httpx2:", httpx2.get(url).text)
print("requests:", requests.get(url).text)

async def ask():
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        print("aiohttp:", await answer.text())

asyncio.run(ask())
PY
cat > check.mjs <<'JS'
import axios from "axios";
import got from "got";

console.log("got:", await got(process.argv[2]).text());
console.log("axios:", (await axios.get(process.argv[2])).data);
JS
venv/bin/python serve.py > address &
server=$!
for _ in $(seq 100); do [[ -s address ]] && break; sleep 0.1; done
{ venv/bin/python check.py "$(cat address)"; node check.mjs "$(cat address)"; } | tee found
diff found - <<'TEXT'
pyreqwest: one
primp: one
httpx: one
httpx2: one
requests: onetwo
aiohttp: onetwo
got: onetwo
axios: onetwo
TEXT
