#!/usr/bin/env bash
# http-message-signatures 1.0.6 (npm) signs a request with HMAC over its query parameter `name`, and http-message-signatures 3.0.0 (PyPI)
# verifies it, for several values (RFC 9421).
#
# Expected: verified for each value, as 2.2.8 names one encoding: that of HTML forms, with spaces as %20.
# Found: npm's package encodes as encodeURIComponent does, which leaves apostrophe, exclamation mark, parentheses and tilde as they are.
# A request that names O'Brien is refused by the other side. With two parameters of one name, which 2.2.8 does not allow to be signed,
# npm's package signs two lines, and PyPI's refuses to verify.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts http-message-signatures@1.0.6
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check http-message-signatures==3.0.0
cat > sign.mjs <<'JS'
import { createHmac } from "node:crypto";
import { httpbis } from "http-message-signatures";

const key = { id: "one", alg: "hmac-sha256", sign: async (data) => createHmac("sha256", "k".repeat(32)).update(data).digest() };
const queries = ["name=Brien", "name=a%20b%2Fc", "name=%C3%A9", "name=a*b-c_d.e", "name=O'Brien", "name=hey%21", "name=%28a%29", "name=~a", "name=a&name=b"];
const requests = [];
for (const query of queries) {
  const request = { method: "GET", url: `https://example.com/?${query}`, headers: {} };
  requests.push(await httpbis.signMessage({ key, fields: ['"@query-param";name="name"'] }, request));
}
console.log(JSON.stringify(requests));
JS
cat > verify.py <<'PY'
import json, sys
from types import SimpleNamespace
from http_message_signatures import HTTPMessageVerifier, MappingKeyResolver, algorithms

keys = {"one": b"k" * 32}
resolver = MappingKeyResolver(public_keys=keys, private_keys=keys)
verifier = HTTPMessageVerifier(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=resolver)
for request in json.load(sys.stdin):
    try:
        verifier.verify(SimpleNamespace(**request))
        print(request["url"], "verified")
    except Exception as error:
        print(request["url"], "refused:", type(error).__name__)
PY
node sign.mjs | venv/bin/python verify.py | tee found
diff found - <<'TEXT'
https://example.com/?name=Brien verified
https://example.com/?name=a%20b%2Fc verified
https://example.com/?name=%C3%A9 verified
https://example.com/?name=a*b-c_d.e verified
https://example.com/?name=O'Brien refused: InvalidSignature
https://example.com/?name=hey%21 refused: InvalidSignature
https://example.com/?name=%28a%29 refused: InvalidSignature
https://example.com/?name=~a refused: InvalidSignature
https://example.com/?name=a&name=b refused: InvalidSignature
TEXT
