#!/usr/bin/env bash
# json-canonicalize 3.0.1 beside canonicalize 5.1.0 (npm), both for the canonical form of JSON (RFC 8785), with values that JSON.stringify
# takes: an object with toJSON, as many classes have it, and an array with a hole.
#
# Expected: the canonical form of what JSON.stringify writes: sorted members, null for the hole.
# Found: json-canonicalize writes what toJSON returns in its own order, so a digest or a signature over it is another one than over the
# same text parsed. It leaves the hole out, so the array is shorter. canonicalize does as expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts canonicalize@5.1.0 json-canonicalize@3.0.1
cat > check.mjs <<'JS'
import canonicalize from "canonicalize";
import { canonicalize as jsonCanonicalize } from "json-canonicalize";

const price = { toJSON: () => ({ value: 1, currency: "EUR" }) };
for (const value of [{ price }, [price], [, 1]]) {
  const text = JSON.stringify(value);
  console.log("canonicalize:", canonicalize(value), "and parsed first:", canonicalize(JSON.parse(text)));
  console.log("json-canonicalize:", jsonCanonicalize(value), "and parsed first:", jsonCanonicalize(JSON.parse(text)));
}
JS
node check.mjs | tee found
diff found - <<'TEXT'
canonicalize: {"price":{"currency":"EUR","value":1}} and parsed first: {"price":{"currency":"EUR","value":1}}
json-canonicalize: {"price":{"value":1,"currency":"EUR"}} and parsed first: {"price":{"currency":"EUR","value":1}}
canonicalize: [{"currency":"EUR","value":1}] and parsed first: [{"currency":"EUR","value":1}]
json-canonicalize: [{"value":1,"currency":"EUR"}] and parsed first: [{"currency":"EUR","value":1}]
canonicalize: [null,1] and parsed first: [null,1]
json-canonicalize: [1] and parsed first: [null,1]
TEXT
