#!/usr/bin/env bash
# tornado 6.6.1 (PyPI), AsyncHTTPClient, and a chunked answer of Node.js with a trailer, or of any server with a chunk extension.
#
# Expected: the body, as every client of the day gives it. A recipient may discard trailers, and must ignore extensions that it does not
# know (RFC 9112, 7.1).
# Found: the body is thrown away. The error says that the connection closed, which reads as a fault of the network. requests
# 2.34.2, httpx 0.28.1 and aiohttp 3.14.5 (PyPI) give the body.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check tornado==6.6.1 httpx==0.28.1 requests==2.34.2 aiohttp==3.14.5
cat > serve.mjs <<'JS'
import { createServer } from "node:http";

const server = createServer((request, response) => {
  if (request.url === "/extension") {
    response.socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5;part=1\r\nhello\r\n0\r\n\r\n");
    return;
  }
  if (request.url === "/trailer") response.setHeader("trailer", "digest");
  response.write("hello");
  if (request.url === "/trailer") response.addTrailers({ digest: "1" });
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
JS
cat > check.py <<'PY'
import asyncio, sys
import aiohttp, httpx, requests
from tornado.httpclient import AsyncHTTPClient

async def by_tornado(url):
    try:
        answer = await AsyncHTTPClient().fetch(url)
        return answer.code, answer.body.decode()
    except Exception as error:
        return type(error).__name__, error

async def by_aiohttp(url):
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()

for path in ["/plain", "/trailer", "/extension"]:
    url = sys.argv[1] + path
    print(path, "tornado:", *asyncio.run(by_tornado(url)))
    others = [(each.status_code, each.text) for each in (requests.get(url), httpx.get(url))] + [asyncio.run(by_aiohttp(url))]
    print(path, "others:", *set(others))
PY
node serve.mjs > address &
server=$!
for _ in $(seq 100); do [[ -s address ]] && break; sleep 0.1; done
venv/bin/python check.py "$(cat address)" | tee found
diff found - <<'TEXT'
/plain tornado: 200 hello
/plain others: (200, 'hello')
/trailer tornado: HTTPStreamClosedError Connection closed
/trailer others: (200, 'hello')
/extension tornado: HTTPStreamClosedError Connection closed
/extension others: (200, 'hello')
TEXT
