#!/usr/bin/env bash
# URI Templates (RFC 6570, level 4): url-template 3.1.1 (npm) and uritemplate 4.2.0 (PyPI).
#
# Expected: the same URI. {+v} encodes each character that a URI cannot have, a list without members and a member that is null are as if they
# were not there (2.3), and {v:1} is the first character, not the first half of one (2.4.1).
# Found: for {+v}, uritemplate leaves a space as it is if the value has an encoded character, so what it returns is no URI. It writes None
# for null in a list or map, and nothing for false. url-template writes a parameter for an empty list, and throws when {v:1} meets a
# character beyond U+FFFF.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts url-template@3.1.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check uritemplate==4.2.0
cat > templates.json <<'JSON'
[
  ["{+v}", { "v": "a b" }],
  ["{+v}", { "v": "a%2Fb c" }],
  ["{?v}", { "v": [] }],
  ["{?v*}", { "v": ["a", null] }],
  ["{?v*}", { "v": { "a": null, "b": 1 } }],
  ["{?v}", { "v": false }],
  ["{v:1}", { "v": "é" }],
  ["{v:1}", { "v": "👍" }]
]
JSON
cat > check.mjs <<'JS'
import { readFileSync } from "node:fs";
import { parseTemplate } from "url-template";

const expand = (template, values) => {
  try {
    return parseTemplate(template).expand(values);
  } catch (error) {
    return error;
  }
};
for (const [template, values] of JSON.parse(readFileSync("templates.json")))
  console.log(`url-template: ${template} with ${JSON.stringify(values.v)} is "${expand(template, values)}"`);
JS
cat > check.py <<'PY'
import json
import uritemplate

for template, values in json.load(open("templates.json")):
    written = json.dumps(values["v"], ensure_ascii=False, separators=(",", ":"))
    print(f'uritemplate: {template} with {written} is "{uritemplate.expand(template, values)}"')
PY
{ node check.mjs; venv/bin/python check.py; } | tee found
diff found - <<'TEXT'
url-template: {+v} with "a b" is "a%20b"
url-template: {+v} with "a%2Fb c" is "a%2Fb%20c"
url-template: {?v} with [] is "?v="
url-template: {?v*} with ["a",null] is "?v=a"
url-template: {?v*} with {"a":null,"b":1} is "?b=1"
url-template: {?v} with false is "?v=false"
url-template: {v:1} with "é" is "%C3%A9"
url-template: {v:1} with "👍" is "URIError: URI malformed"
uritemplate: {+v} with "a b" is "a%20b"
uritemplate: {+v} with "a%2Fb c" is "a%2Fb c"
uritemplate: {?v} with [] is ""
uritemplate: {?v*} with ["a",null] is "?v=a&v=None"
uritemplate: {?v*} with {"a":null,"b":1} is "?a=None&b=1"
uritemplate: {?v} with false is "?v="
uritemplate: {v:1} with "é" is "%C3%A9"
uritemplate: {v:1} with "👍" is "%F0%9F%91%8D"
TEXT
