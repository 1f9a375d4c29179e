#!/usr/bin/env bash
# OAuth 2.0: a client asks for a token with its id and secret in HTTP Basic. Clients: oauth4webapi 3.8.8 and simple-oauth2 5.1.0 (npm),
# Authlib 1.9.10 and requests-oauthlib 2.0.0 (PyPI). Authlib's function for servers reads what they sent.
#
# Expected: both are encoded as in a form before they become a pair, as RFC 6749 says (2.3.1), and the server decodes them. So an id may have
# a colon, and a secret may have any sign.
# Found: those of npm encode, and Authlib's server decodes. The clients of PyPI do not encode, not even Authlib's own. So Authlib's server reads
# another secret than Authlib's client was given if the secret has %, and another id if the id has a colon.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts oauth4webapi@3.8.8 simple-oauth2@5.1.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check Authlib==1.9.10 requests==2.34.2 requests-oauthlib==2.0.0
cat > check.mjs <<'JS'
import * as oauth from "oauth4webapi";
import { ClientCredentials } from "simple-oauth2";

const [url, id, secret] = process.argv.slice(2);
const server = { issuer: url, token_endpoint: `${url}/oauth4webapi` };
const insecure = { [oauth.allowInsecureRequests]: true };
await oauth.clientCredentialsGrantRequest(server, { client_id: id }, oauth.ClientSecretBasic(secret), {}, insecure);
await new ClientCredentials({ client: { id, secret }, auth: { tokenHost: url, tokenPath: "/simple-oauth2" } }).getToken({});
JS
cat > check.py <<'PY'
import base64, os, subprocess, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from authlib.oauth2.rfc6749.util import extract_basic_authorization
from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth2Session

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        header = self.headers["Authorization"]
        found = extract_basic_authorization({"Authorization": header})
        print(self.path[1:], "sends", base64.b64decode(header.split()[1]).decode() + ", which Authlib's server reads as", *found, flush=True)
        body = b'{"access_token":"a","token_type":"bearer","expires_in":60}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
for id, secret in [("one", "secret"), ("one", "p+q/r%2F="), ("a:one", "secret")]:
    subprocess.run(["node", "check.mjs", url, id, secret], check=True)
    AuthlibSession(id, secret).fetch_token(f"{url}/authlib", grant_type="client_credentials")
    OAuth2Session(client=BackendApplicationClient(id)).fetch_token(f"{url}/requests-oauthlib", client_id=id, client_secret=secret)
server.shutdown()
PY
venv/bin/python check.py | tee found
diff found - <<'TEXT'
oauth4webapi sends one:secret, which Authlib's server reads as one secret
simple-oauth2 sends one:secret, which Authlib's server reads as one secret
authlib sends one:secret, which Authlib's server reads as one secret
requests-oauthlib sends one:secret, which Authlib's server reads as one secret
oauth4webapi sends one:p%2Bq%2Fr%252F%3D, which Authlib's server reads as one p+q/r%2F=
simple-oauth2 sends one:p%2Bq%2Fr%252F%3D, which Authlib's server reads as one p+q/r%2F=
authlib sends one:p+q/r%2F=, which Authlib's server reads as one p+q/r/=
requests-oauthlib sends one:p+q/r%2F=, which Authlib's server reads as one p+q/r/=
oauth4webapi sends a%3Aone:secret, which Authlib's server reads as a:one secret
simple-oauth2 sends a%3Aone:secret, which Authlib's server reads as a:one secret
authlib sends a:one:secret, which Authlib's server reads as a one:secret
requests-oauthlib sends a:one:secret, which Authlib's server reads as a one:secret
TEXT
