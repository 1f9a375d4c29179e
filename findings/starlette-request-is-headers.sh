#!/usr/bin/env bash
# PyPI starlette 0.48.0 and werkzeug 3.1.3, on Python 3.9 or newer.
#
# One would expect that a function which accepts any collections.abc.Mapping of text as headers refuses a request, and accepts the
# headers of every framework.
#
# What happens: the Request of Starlette (and of FastAPI) is a Mapping itself: of the ASGI scope, whose keys are text such as "type" and
# "method". So a request passed by mistake looks like headers that lack the one that is sought. The headers of Flask (EnvironHeaders of
# Werkzeug) have keys(), items() and get(), but are no Mapping.
#
# Seen: Request is a Mapping: True, with type: True; EnvironHeaders is a Mapping: False, has items: True
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check starlette==0.48.0 werkzeug==3.1.3
seen=$("$folder/venv/bin/python" - <<'PROGRAM'
from collections.abc import Mapping
from starlette.requests import Request
from werkzeug.datastructures import EnvironHeaders

request = Request({"type": "http", "method": "POST", "headers": [(b"x-signature", b"abc")]})
flask = EnvironHeaders({"HTTP_X_SIGNATURE": "abc"})
print(
    f"Request is a Mapping: {isinstance(request, Mapping)}, with type: {'type' in request}; "
    f"EnvironHeaders is a Mapping: {isinstance(flask, Mapping)}, has items: {hasattr(flask, 'items')}"
)
PROGRAM
)
echo "starlette 0.48.0, werkzeug 3.1.3, $(python3 --version)"
echo "$seen"
[ "$seen" = "Request is a Mapping: True, with type: True; EnvironHeaders is a Mapping: False, has items: True" ]
