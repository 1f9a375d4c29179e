#!/usr/bin/env bash
# cloudevents 10.0.0 (npm), reading over HTTP. Media types are case-insensitive, and no space is needed before a parameter.
#
# Expected: JSON that is declared as `application/json;charset=utf-8`, `application/json; charset=UTF-8` or `application/vnd.acme+json` is
# read as with `application/json; charset=utf-8`, and a structured event likewise.
# Found: in binary mode `data` stays the text of the JSON, without an error. In structured mode a TypeError says that the content type is
# invalid. The types are looked up by their exact spelling.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cloudevents@10.0.0
cat > check.mjs <<'JS'
import { HTTP } from "cloudevents";
const attributes = { id: "1", type: "a", source: "/s", specversion: "1.0" };
const headers = Object.fromEntries(Object.entries(attributes).map(([k, v]) => [`ce-${k}`, v]));
const read = (type, body, more = {}) => {
  try {
    return typeof HTTP.toEvent({ headers: { ...more, "content-type": type }, body }).data;
  } catch (error) {
    return error.name;
  }
};
for (const type of ["json; charset=utf-8", "json;charset=utf-8", "json; charset=UTF-8", "vnd.acme+json"]) {
  console.log(`binary application/${type}: ${read(`application/${type}`, '{"x":1}', headers)}`);
}
const event = JSON.stringify({ ...attributes, data: { x: 1 } });
for (const parameter of ["; charset=utf-8", ";charset=utf-8", "; charset=UTF-8"]) {
  console.log(`structured${parameter}: ${read(`application/cloudevents+json${parameter}`, event)}`);
}
JS
node check.mjs | tee found
diff found - <<'TEXT'
binary application/json; charset=utf-8: object
binary application/json;charset=utf-8: string
binary application/json; charset=UTF-8: string
binary application/vnd.acme+json: string
structured; charset=utf-8: object
structured;charset=utf-8: TypeError
structured; charset=UTF-8: TypeError
TEXT
