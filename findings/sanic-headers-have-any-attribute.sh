#!/usr/bin/env bash
# PyPI sanic 25.3.0, on Python 3.9 or newer.
#
# One would expect that an object's attribute tells a request, which has `headers`, from the headers themselves.
#
# What happens: the headers of Sanic's request have every name as an attribute. It is the text of that header, and "" if the request
# lacks it. So hasattr() is true of any name, and code that looks for a member `headers` takes the headers for a request.
#
# Seen: has headers: True, headers: '', has no_such_name: True, host: 'a'
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check sanic==25.3.0
seen=$("$folder/venv/bin/python" - <<'PROGRAM'
from sanic.compat import Header

headers = Header([("host", "a")])
print(
    f"has headers: {hasattr(headers, 'headers')}, headers: {headers.headers!r}, "
    f"has no_such_name: {hasattr(headers, 'no_such_name')}, host: {headers.host!r}"
)
PROGRAM
)
echo "sanic 25.3.0, $(python3 --version)"
echo "$seen"
[ "$seen" = "has headers: True, headers: '', has no_such_name: True, host: 'a'" ]
