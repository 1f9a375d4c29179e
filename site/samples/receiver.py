import json, os, re, ssl, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from verify import verify

SECRET = os.environ.get("PARTNER_SECRET") or exit("PARTNER_SECRET is not set")
SECRETS = SECRET.split(",")  # Several during a rotation.
seen = set()  # In production: a table with a unique key on the event's id.
MAX_BYTES = 1024 * 1024  # Deliveries are smaller.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            status = self.receive()
        except Exception:  # Respond even if this fails.
            traceback.print_exc()
            status = 500
        self.send_response(status)
        self.end_headers()

    def receive(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,15}", length):  # Chunked, for example.
            return self.refuse(411, "no Content-Length")
        if int(length) > MAX_BYTES:
            return self.refuse(413, "more than 1 MiB")
        body = self.rfile.read(int(length))  # Raw bytes.
        signature = ",".join(self.headers.get_all("X-VC-Signature", []))
        timestamp = ",".join(self.headers.get_all("X-VC-Timestamp", []))
        verdict = verify(SECRETS, signature, timestamp, body)
        if verdict != "valid":
            return self.refuse(400, verdict)

        event = json.loads(body)
        if event["id"] in seen:  # A duplicate.
            return 204
        seen.add(event["id"])
        message = event["data"]["message"]
        print(f'received {event["event"]} {event["id"]}: {message}', flush=True)
        return 204  # Store the event, respond within 10 seconds, process it later.

    def refuse(self, status, reason):
        print(f"refused with {status}: {reason}", flush=True)
        return status

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "3000"))), Receiver)
if os.environ.get("TLS_PEM"):  # For local tests. Otherwise a proxy terminates TLS.
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(os.environ["TLS_PEM"])
    server.socket = tls.wrap_socket(server.socket, server_side=True)
print(f"receiving on port {server.server_port}", flush=True)
server.serve_forever()
