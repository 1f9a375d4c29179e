#!/usr/bin/env bash
# httpx-sse 0.4.3 (PyPI, with httpx 0.28.1) beside sseclient-py 1.9.0 (PyPI) and eventsource-parser 4.1.3 (npm), reading a stream whose
# first event has an id, with comments as signs of life between the events, as the HTML standard advises.
#
# Expected: two messages. A blank line after a comment dispatches nothing, because no line of data came before it (HTML, 9.2.6).
# Found: httpx-sse gives an empty message for each comment, but only once an event had an id. A program that parses each message as JSON
# fails at the first quiet moment. Without the id, and in the others, the two messages come alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts eventsource-parser@4.1.3
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check httpx-sse==0.4.3 httpx==0.28.1 sseclient-py==1.9.0
cat > check.py <<'PY'
import httpx, httpx_sse, sseclient

streams = {
    "with an id": "id: 1\ndata: a\n\n: alive\n\n: alive\n\ndata: b\n\n",
    "without": "data: a\n\n: alive\n\n: alive\n\ndata: b\n\n",
}
for name, text in streams.items():
    answer = lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, text=text)
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        with httpx_sse.connect_sse(client, "GET", "http://localhost/") as source:
            print(f"httpx-sse, {name}:", [event.data for event in source.iter_sse()])
    print(f"sseclient-py, {name}:", [event.data for event in sseclient.SSEClient(iter([text.encode()])).events()])
PY
cat > check.mjs <<'JS'
import { createParser } from "eventsource-parser";

const messages = [];
createParser({ onEvent: (event) => messages.push(event.data) }).feed("id: 1\ndata: a\n\n: alive\n\n: alive\n\ndata: b\n\n");
console.log("eventsource-parser, with an id:", messages);
JS
{ venv/bin/python check.py; node check.mjs; } | tee found
diff found - <<'TEXT'
httpx-sse, with an id: ['a', '', '', 'b']
sseclient-py, with an id: ['a', 'b']
httpx-sse, without: ['a', 'b']
sseclient-py, without: ['a', 'b']
eventsource-parser, with an id: [ 'a', 'b' ]
TEXT
