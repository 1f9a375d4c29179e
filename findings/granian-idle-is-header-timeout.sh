#!/usr/bin/env bash
# PyPI granian 2.8.7, HTTP/1.1.
#
# One would expect that --http1-header-read-timeout bounds how long a client may take to send the head of a request that it has begun, and
# that the idle time of a kept connection has a setting of its own, as in uvicorn, hypercorn and gunicorn. --http1-keep-alive looks like it.
#
# What happens: --http1-keep-alive is only on or off. A kept connection without any byte of a next request is closed after the header
# timeout: 30 s by default, and sooner if an operator shortens it against slow clients. Nothing announces it in a Keep-Alive header.
#
# Seen, with a header timeout of 2000 ms: Keep-Alive header: none; idle connection closed after 2 s
set -euo pipefail

folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check granian==2.8.7
cat >app.py <<'PROGRAM'
async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})
PROGRAM
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
venv/bin/granian app:app --interface asgi --host 127.0.0.1 --port "$port" --http1-header-read-timeout 2000 >/dev/null 2>&1 &
server=$!
seen=$(python3 - "$port" <<'PROGRAM'
import socket, sys, time

for _ in range(200):
    try:
        client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        break
    except OSError:
        time.sleep(0.1)
client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
text = b""
while not text.endswith(b"ok"):
    text += client.recv(65536)
answered = time.monotonic()
client.settimeout(40)
assert client.recv(65536) == b""
announced = "some" if b"keep-alive:" in text.lower() else "none"
print(f"Keep-Alive header: {announced}; idle connection closed after {round(time.monotonic() - answered)} s")
PROGRAM
)
echo "granian 2.8.7"
echo "$seen"
[ "$seen" = "Keep-Alive header: none; idle connection closed after 2 s" ]
