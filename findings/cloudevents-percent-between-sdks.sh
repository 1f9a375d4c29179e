#!/usr/bin/env bash
# cloudevents 2.2.0 (PyPI) writes an event in HTTP's binary mode, cloudevents 10.0.0 (npm) reads it, and the other way round.
#
# Expected: `subject` arrives as it was sent. The HTTP binding (1.0.2, 3.1.3.2) encodes spaces, percent signs and what is not ASCII.
# Found: Python encodes and decodes, JavaScript does neither. From Python to JavaScript the subject arrives encoded. From JavaScript to
# Python a subject that holds a percent sign and two digits becomes another one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cloudevents@10.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cloudevents==2.2.0
cat > write.py <<'PY'
import json
from cloudevents.core.bindings.http import to_binary
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

event = CloudEvent({"id": "1", "type": "a", "source": "/s", "specversion": "1.0", "subject": "Kraków 9"}, {})
print(json.dumps(to_binary(event, JSONFormat()).headers))
PY
cat > read.py <<'PY'
import json, sys
from cloudevents.core.bindings.http import HTTPMessage, from_binary
from cloudevents.core.formats.json import JSONFormat

event = from_binary(HTTPMessage(headers=json.load(sys.stdin), body=b"{}"), JSONFormat())
print("JavaScript to Python:", event.get_subject())
PY
cat > read.mjs <<'JS'
import { HTTP } from "cloudevents";
const headers = JSON.parse(process.argv[2]);
console.log("Python to JavaScript:", HTTP.toEvent({ headers, body: "{}" }).subject);
JS
cat > write.mjs <<'JS'
import { CloudEvent, HTTP } from "cloudevents";
console.log(JSON.stringify(HTTP.binary(new CloudEvent({ id: "1", type: "a", source: "/s", subject: "a%20off", data: {} })).headers));
JS
{ node read.mjs "$(venv/bin/python write.py)"; node write.mjs | venv/bin/python read.py; } | tee found
diff found - <<'TEXT'
Python to JavaScript: Krak%C3%B3w%209
JavaScript to Python: a off
TEXT
