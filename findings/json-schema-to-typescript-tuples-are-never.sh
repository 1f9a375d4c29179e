#!/usr/bin/env bash
# npm json-schema-to-typescript 16.0.0, on Node.js 20 or newer.
#
# One would expect that a tuple of JSON Schema 2020-12, `prefixItems` with `items: false`, becomes a tuple, or at worst an array of
# anything.
#
# What happens: `prefixItems` is not read, and `items: false` is. The type is an array of `never`, so TypeScript refuses every document
# that the schema permits, and permits the empty array alone. There is no error and no warning. The same tuple as draft-07 writes it,
# with a list in `items`, becomes a tuple.
#
# Seen: 2020-12: never[]; draft-07: [string,number]
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-schema-to-typescript@16.0.0
cat >seen.mjs <<'PROGRAM'
import { compile } from "json-schema-to-typescript";

const [text, number] = [{ type: "string" }, { type: "number" }];
const both = { type: "array", minItems: 2, maxItems: 2 };
const typeOf = async (schema) => {
  const source = await compile({ ...both, ...schema }, "Pair", { bannerComment: "" });
  return source.replace(/\/\*.*?\*\//gs, "").replace("export type Pair =", "").replace(/[\s;]/g, "");
};
const now = await typeOf({ prefixItems: [text, number], items: false });
const before = await typeOf({ items: [text, number], additionalItems: false });
console.log(`2020-12: ${now}; draft-07: ${before}`);
PROGRAM
seen=$(node seen.mjs)
echo "json-schema-to-typescript 16.0.0, Node.js $(node --version)"
echo "$seen"
[ "$seen" = "2020-12: never[]; draft-07: [string,number]" ]
