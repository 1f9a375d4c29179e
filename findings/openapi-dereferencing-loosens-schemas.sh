#!/usr/bin/env bash
# Libraries that replace the references of an OpenAPI 3.1 document by what they point to: @apidevtools/json-schema-ref-parser 16.0.5,
# @scalar/openapi-parser 0.29.22 and json-refs 3.0.15 (npm). Ajv 8.20.0 then validates by the schemas.
#
# Expected: what was refused before is refused after. In 3.1 a schema with $ref and keywords beside it means both (JSON Schema 2020-12,
# core, 8.2.3.1), as `allOf` does. A const that holds a member $ref is data.
# Found: each loosens the schema. json-schema-ref-parser merges `properties`, but the outer `required` replaces the inner one. The parser
# of Scalar replaces `properties` too. json-refs drops the keywords beside $ref. json-schema-ref-parser and json-refs replace the data in
# the const by a schema, so the one value that it allowed is refused.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @apidevtools/json-schema-ref-parser@16.0.5 @scalar/openapi-parser@0.29.22 json-refs@3.0.15 ajv@8.20.0
cat > check.mjs <<'JS'
import * as refParser from "@apidevtools/json-schema-ref-parser";
import * as scalar from "@scalar/openapi-parser";
import { Ajv2020 } from "ajv/dist/2020.js";
import jsonRefs from "json-refs";

const schemas = {
  Named: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  Priced: { $ref: "#/components/schemas/Named", properties: { price: { type: "integer" } }, required: ["price"] },
  Pointer: { const: { $ref: "#/components/schemas/Named" } },
};
const document = () => structuredClone({ openapi: "3.1.0", info: { title: "a", version: "1" }, paths: {}, components: { schemas } });
const values = {
  Priced: [{ name: "a", price: 1 }, { price: 1 }, { name: 1, price: 1 }, { name: "a" }],
  Pointer: [{ $ref: "#/components/schemas/Named" }],
};
const libraries = {
  "none": async () => document(),
  "json-schema-ref-parser": async () => refParser.dereference(document()),
  "@scalar/openapi-parser": async () => (await scalar.dereference(document())).schema,
  "json-refs": async () => (await jsonRefs.resolveRefs(document())).resolved,
};
for (const [name, read] of Object.entries(libraries)) {
  const ajv = new Ajv2020({ strict: false }).addSchema({ $id: "https://example.com/", ...(await read()) });
  for (const [schema, tried] of Object.entries(values)) {
    const accepts = ajv.getSchema(`https://example.com/#/components/schemas/${schema}`);
    console.log(`${name}, ${schema}:`, ...tried.map((value) => `${JSON.stringify(value)} ${accepts(value) ? "accepted" : "refused"},`));
  }
}
JS
node check.mjs | tee found
diff found - <<'TEXT'
none, Priced: {"name":"a","price":1} accepted, {"price":1} refused, {"name":1,"price":1} refused, {"name":"a"} refused,
none, Pointer: {"$ref":"#/components/schemas/Named"} accepted,
json-schema-ref-parser, Priced: {"name":"a","price":1} accepted, {"price":1} accepted, {"name":1,"price":1} refused, {"name":"a"} refused,
json-schema-ref-parser, Pointer: {"$ref":"#/components/schemas/Named"} refused,
@scalar/openapi-parser, Priced: {"name":"a","price":1} accepted, {"price":1} accepted, {"name":1,"price":1} accepted, {"name":"a"} refused,
@scalar/openapi-parser, Pointer: {"$ref":"#/components/schemas/Named"} accepted,
json-refs, Priced: {"name":"a","price":1} accepted, {"price":1} refused, {"name":1,"price":1} refused, {"name":"a"} accepted,
json-refs, Pointer: {"$ref":"#/components/schemas/Named"} refused,
TEXT
