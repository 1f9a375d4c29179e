#!/usr/bin/env bash
# cloudevents 10.0.0 (npm) and 2.2.0 (PyPI), writing an event in binary mode whose `datacontenttype` is application/json.
#
# Expected: the body is JSON, as the content type says, and as `data` is in structured mode.
# Found: both write a text without its quotes. Python writes a list and a truth value in Python's notation. Reading undoes
# neither: JavaScript reads the JSON `1`, `true` and `null` as texts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cloudevents@10.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cloudevents==2.2.0
cat > check.mjs <<'JS'
import { CloudEvent, HTTP } from "cloudevents";
const attributes = { id: "1", type: "a", source: "/s", datacontenttype: "application/json" };
for (const data of ["text", ["a"], true]) {
  console.log(`JavaScript writes ${JSON.stringify(data)}: ${HTTP.binary(new CloudEvent({ ...attributes, data })).body}`);
}
const { headers } = HTTP.binary(new CloudEvent({ ...attributes, data: {} }));
for (const body of ["1", "true", "null"]) {
  console.log(`JavaScript reads ${body}: ${JSON.stringify(HTTP.toEvent({ headers, body }).data)}`);
}
JS
cat > check.py <<'PY'
import json
from cloudevents.core.bindings.http import to_binary
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

for data in ["text", ["a"], True]:
    event = CloudEvent({"id": "1", "type": "a", "source": "/s", "specversion": "1.0", "datacontenttype": "application/json"}, data)
    print(f"Python writes {json.dumps(data)}: {to_binary(event, JSONFormat()).body.decode()}")
PY
{ node check.mjs; venv/bin/python check.py; } | tee found
diff found - <<'TEXT'
JavaScript writes "text": text
JavaScript writes ["a"]: ["a"]
JavaScript writes true: true
JavaScript reads 1: "1"
JavaScript reads true: "true"
JavaScript reads null: "null"
Python writes "text": text
Python writes ["a"]: ['a']
Python writes true: True
TEXT
