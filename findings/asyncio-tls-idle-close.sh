#!/usr/bin/env bash
# PyPI uvicorn 0.54.0 and hypercorn 0.18.0 (asyncio of Python 3.11 or newer), over TLS.
#
# One would expect that a server which closes an idle connection sends TLS's close_notify and TCP's FIN together, as nginx, Apache and
# Go do. So a client that watches its socket for FIN would not send a request on a connection that the server has given up.
#
# What happens: after the idle time they send close_notify alone. The FIN comes when the client has answered with its own close_notify,
# or else 30 s later (asyncio's ssl_shutdown_timeout, which neither server lets one set). A request that is sent meanwhile gets no answer.
#
# Seen, with an idle time of 1 s:
#   uvicorn: close_notify after 1 s, FIN after 31 s
#   hypercorn: close_notify after 1 s, FIN after 31 s
set -euo pipefail

folder=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check uvicorn==0.54.0 hypercorn==0.18.0
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost 2>/dev/null

cat >app.py <<'PROGRAM'
async def app(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})
PROGRAM

cat >watch.py <<'PROGRAM'
import socket, ssl, sys, time

port = int(sys.argv[1])
for _ in range(100):
    try:
        raw = socket.create_connection(("127.0.0.1", port))
        break
    except OSError:
        time.sleep(0.1)
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")

def step(work):
    while True:
        try:
            return work()
        except ssl.SSLWantReadError:
            if outgoing.pending:
                raw.sendall(outgoing.read())
            incoming.write(raw.recv(65536))
        finally:
            if outgoing.pending:
                raw.sendall(outgoing.read())

step(tls.do_handshake)
tls.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw.sendall(outgoing.read())
text = b""
while not text.endswith(b"ok"):
    text += step(lambda: tls.read(65536))
answered = time.monotonic()
raw.settimeout(60)
try:
    end = step(lambda: tls.read(65536)) == b""
except ssl.SSLZeroReturnError:
    end = True
notified = round(time.monotonic() - answered)
while raw.recv(65536):
    pass
print(f"{sys.argv[2]}: close_notify after {notified} s, FIN after {round(time.monotonic() - answered)} s")
PROGRAM

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
one=$(port)
two=$(port)
venv/bin/uvicorn app:app --port "$one" --ssl-keyfile key.pem --ssl-certfile cert.pem --timeout-keep-alive 1 2>/dev/null &
servers+=($!)
venv/bin/hypercorn app:app --bind "127.0.0.1:$two" --keyfile key.pem --certfile cert.pem --keep-alive 1 2>/dev/null &
servers+=($!)
venv/bin/python watch.py "$one" uvicorn >uvicorn.txt &
first=$!
venv/bin/python watch.py "$two" hypercorn >hypercorn.txt
wait "$first"
echo "uvicorn 0.54.0, hypercorn 0.18.0, $(python3 --version)"
cat uvicorn.txt hypercorn.txt
grep -qE 'close_notify after [12] s, FIN after 3[123] s' uvicorn.txt
grep -qE 'close_notify after [12] s, FIN after 3[123] s' hypercorn.txt
