#!/usr/bin/env bash
# The header Cache-Control with directives in capital letters, which are the same to RFC 9111 (5.2): http-cache-semantics 4.3.0 (npm), which
# got and npm itself use, and CacheControl 0.14.4 (PyPI), which pip uses.
#
# Expected: Max-Age=60 is a minute. Of two different values the first one counts, or the answer is stale (4.2.1).
# Found: neither knows Max-Age. If the answer has Last-Modified, http-cache-semantics then guesses from it, and keeps the answer of a resource
# that was changed ten days ago for a day. Of two values both take the last.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts http-cache-semantics@4.3.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check CacheControl==0.14.4
cat > check.mjs <<'JS'
import CachePolicy from "http-cache-semantics";

const date = (days) => new Date(Date.now() + days * 86_400_000).toUTCString();
for (const header of ["max-age=60", "Max-Age=60", "max-age=60, max-age=5"]) {
  const headers = { "cache-control": header, date: date(0), "last-modified": date(-10) };
  const policy = new CachePolicy({ url: "/", method: "GET", headers: {} }, { status: 200, headers });
  console.log(`http-cache-semantics keeps ${header} for`, policy.maxAge(), "seconds");
}
JS
cat > check.py <<'PY'
from cachecontrol.controller import CacheController

for header in ["max-age=60", "Max-Age=60", "max-age=60, max-age=5"]:
    print(f"CacheControl reads {header} as", CacheController().parse_cache_control({"cache-control": header}).get("max-age"))
PY
{ node check.mjs; venv/bin/python check.py; } | tee found
diff found - <<'TEXT'
http-cache-semantics keeps max-age=60 for 60 seconds
http-cache-semantics keeps Max-Age=60 for 86400 seconds
http-cache-semantics keeps max-age=60, max-age=5 for 5 seconds
CacheControl reads max-age=60 as 60
CacheControl reads Max-Age=60 as None
CacheControl reads max-age=60, max-age=5 as 5
TEXT
