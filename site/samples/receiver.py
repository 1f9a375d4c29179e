import json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from verify import verify

SECRET = os.environ["PARTNER_SECRET"]
seen = set()  # In production: a table with a unique key on the event's id.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))  # Raw bytes.
        signature = ",".join(self.headers.get_all("X-VC-Signature", []))
        timestamp = ",".join(self.headers.get_all("X-VC-Timestamp", []))
        verdict = verify([SECRET], signature, timestamp, body)
        if verdict != "valid":
            print(f"refused, {verdict}", flush=True)
            return self.answer(400)

        event = json.loads(body)
        is_new = event["id"] not in seen  # A delivery may arrive twice.
        seen.add(event["id"])
        self.answer(204)  # Once it is stored, within 10 seconds. Then work on it.
        if is_new:
            message = event["data"]["message"]
            print(f'received {event["event"]} {event["id"]}: {message}', flush=True)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "3000"))), Receiver)
print(f"receiving on port {server.server_port}", flush=True)
server.serve_forever()
