#!/usr/bin/env bash
# ajv 8.20.0, class Ajv2020, on schemas of the official test suite of JSON Schema 2020-12.
#
# Expected: a $ref to an embedded schema whose own $ref is local compiles; a $dynamicRef whose target is a plain $anchor means the
# same as $ref; an item that `contains` accepts counts as evaluated for `unevaluatedItems`.
# Found: the first ends with "Maximum call stack size exceeded", with each of the options tried. The second calls the schema at the root
# in place of the target, so valid data is refused. The third accepts an item that nothing evaluates.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ajv@8.20.0
cat > check.mjs <<'JS'
import { Ajv2020 } from "ajv/dist/2020.js";
const create = () => new Ajv2020({ strict: false });
const embedded = {
  $id: "https://example.com/outer",
  $ref: "inner",
  properties: { a: { $id: "inner", $defs: { text: { type: "object" } }, $ref: "#/$defs/text" } },
};
let first = "compiled";
try {
  create().compile(embedded);
} catch (error) {
  first = error.message;
}
const dynamic = {
  type: "array",
  items: { $dynamicRef: "#item" },
  $defs: { item: { $anchor: "item", type: "string" } },
};
const second = create().compile(dynamic)(["text"]);
const third = create().compile({ contains: { multipleOf: 2 }, unevaluatedItems: false })([2, 3]);
console.log(JSON.stringify({ first, second, third }));
const asFound = first === "Maximum call stack size exceeded" && second === false && third === true;
process.exit(asFound ? 0 : 1);
JS
node check.mjs
