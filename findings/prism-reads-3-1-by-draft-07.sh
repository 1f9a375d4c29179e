#!/usr/bin/env bash
# @stoplight/prism-cli 5.16.0 (npm), `prism mock` with an OpenAPI 3.1 document, whose schemas are JSON Schema 2020-12.
#
# Expected: requests are judged by 2020-12, or a warning says what is not.
# Found: they are judged by draft-07, without a word. A tuple that fits its prefixItems is refused, because `items: false` is taken for all
# items. unevaluatedProperties, dependentRequired and minContains do nothing. A body null, where the schema allows it, is a missing body. An
# integer of format int64 above 2 to the power of 53 is refused, though the format has 64 bits. Keywords of both drafts work: `const` does.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @stoplight/prism-cli@5.16.0
cat > check.mjs <<'JS'
import { writeFileSync } from "node:fs";

const schemas = {
  const: { const: "a" },
  tuple: { type: "array", prefixItems: [{ type: "string" }], items: false },
  closed: { allOf: [{ type: "object", properties: { a: {} } }], unevaluatedProperties: false },
  needs: { type: "object", dependentRequired: { a: ["b"] } },
  two: { type: "array", contains: { type: "string" }, minContains: 2 },
  nullable: { type: ["string", "null"] },
  long: { type: "integer", format: "int64" },
};
const tried = [
  ["const", '"a"', "valid"],
  ["const", '"b"', "invalid"],
  ["tuple", '["a"]', "valid"],
  ["tuple", '["a",1]', "invalid"],
  ["closed", '{"b":1}', "invalid"],
  ["needs", '{"a":1}', "invalid"],
  ["two", '["a"]', "invalid"],
  ["nullable", "null", "valid"],
  ["long", "9007199254740992", "valid"],
];
const operation = (name) => ({
  requestBody: { required: true, content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } },
  responses: { 204: { description: "Done." } },
});
const paths = Object.fromEntries(Object.keys(schemas).map((name) => [`/${name}`, { post: operation(name) }]));
if (process.argv[2] === "write") writeFileSync("openapi.json", JSON.stringify({ openapi: "3.1.0", info: { title: "a", version: "1" }, paths, components: { schemas } }));
else
  for (const [name, body, verdict] of tried) {
    const answer = await fetch(`${process.argv[2]}/${name}`, { method: "POST", headers: { "content-type": "application/json" }, body });
    const why = answer.status === 204 ? "" : `: ${(await answer.json()).validation[0].message}`;
    console.log(`${name} ${body} is ${verdict}, Prism ${answer.status === 204 ? "accepts" : "refuses"} it${why}`);
  }
JS
node check.mjs write
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
node node_modules/@stoplight/prism-cli/dist/index.js mock -h 127.0.0.1 -p "$port" openapi.json > log 2>&1 &
server=$!
for _ in $(seq 300); do grep -q "is listening" log && break; sleep 0.1; done
node check.mjs "http://127.0.0.1:$port" | tee found
diff found - <<'TEXT'
const "a" is valid, Prism accepts it
const "b" is invalid, Prism refuses it: Request body must be equal to constant
tuple ["a"] is valid, Prism refuses it: Request body property 0 boolean schema is false
tuple ["a",1] is invalid, Prism refuses it: Request body property 0 boolean schema is false
closed {"b":1} is invalid, Prism accepts it
needs {"a":1} is invalid, Prism accepts it
two ["a"] is invalid, Prism accepts it
nullable null is valid, Prism refuses it: Body parameter is required
long 9007199254740992 is valid, Prism refuses it: Request body must be <= 9007199254740991
TEXT
