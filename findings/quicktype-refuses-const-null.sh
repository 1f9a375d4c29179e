#!/usr/bin/env bash
# npm quicktype-core 26.0.0, on Node.js 20 or newer.
#
# One would expect that `const: null` is the type null, as `enum: [null]` and `type: "null"` are.
#
# What happens: a schema with a member `{"const": null}` is refused as a whole, because its type would be an empty union. Beside
# `"type": "null"` the same constant is accepted, and so are the constants of all other kinds.
#
# Seen: const null: refused, an empty union; with its type: null; enum of null: null; const "a": accepted; const 1: number
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund quicktype-core@26.0.0
cat >seen.mjs <<'PROGRAM'
import { FetchingJSONSchemaStore, InputData, JSONSchemaInput, quicktype } from "quicktype-core";

const typeOf = async (member) => {
  const source = new JSONSchemaInput(new FetchingJSONSchemaStore());
  const schema = { type: "object", properties: { member }, required: ["member"] };
  await source.addSource({ name: "Thing", schema: JSON.stringify(schema) });
  const inputData = new InputData();
  inputData.addInput(source);
  try {
    const rendererOptions = { "just-types": "true" };
    const { lines } = await quicktype({ inputData, lang: "typescript", rendererOptions });
    const [, type] = /member: (\w+)/.exec(lines.join("\n"));
    return type === "Member" ? "accepted" : type;
  } catch (error) {
    return /empty union/.test(String(error)) ? "refused, an empty union" : String(error);
  }
};
const seen = [
  ["const null", await typeOf({ const: null })],
  ["with its type", await typeOf({ type: "null", const: null })],
  ["enum of null", await typeOf({ enum: [null] })],
  ['const "a"', await typeOf({ const: "a" })],
  ["const 1", await typeOf({ const: 1 })],
];
console.log(seen.map((one) => one.join(": ")).join("; "));
PROGRAM
seen=$(node seen.mjs)
echo "quicktype-core 26.0.0, Node.js $(node --version)"
echo "$seen"
[ "$seen" = 'const null: refused, an empty union; with its type: null; enum of null: null; const "a": accepted; const 1: number' ]
