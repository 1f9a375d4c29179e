#!/usr/bin/env bash
# @redocly/openapi-core 1.34.24, `lintFromString` of two documents at the same time.
#
# Expected: each call returns what it returns alone, because it takes its document and its configuration as arguments.
# Found: all calls of a process share one validator for examples, which has the resolver of the call that created it, and which the first
# call to end throws away. So a valid document whose schemas have references of their own gets false findings ("can't resolve
# reference"), depending on what is linted beside it. Seen: "one after the other: 0,0, at the same time: 0,1".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @redocly/openapi-core@1.34.24
cat > lint.mjs <<'JS'
import { createConfig, lintFromString } from "@redocly/openapi-core";
const config = await createConfig({ rules: { "no-invalid-media-type-examples": "error" } });
const operation = (name) => ({
  post: {
    requestBody: {
      content: {
        "application/json": { schema: { $ref: `#/components/schemas/${name}` }, example: { inner: "text" } },
      },
    },
    responses: { 200: { description: "ok" } },
  },
});
const documentOf = (name) =>
  JSON.stringify({
    openapi: "3.1.0",
    info: { title: name, version: "1" },
    paths: { [`/${name}`]: operation(name) },
    components: {
      schemas: {
        [name]: { type: "object", properties: { inner: { $ref: `#/components/schemas/${name}Inner` } } },
        [`${name}Inner`]: { type: "string" },
      },
    },
  });
const lint = async (name) => (await lintFromString({ source: documentOf(name), config })).length;
const alone = [await lint("one"), await lint("two")];
const together = await Promise.all([lint("one"), lint("two")]);
console.log(`findings one after the other: ${alone}, at the same time: ${together}`);
process.exit(alone.every((n) => n === 0) && together.some((n) => n > 0) ? 0 : 1);
JS
node lint.mjs
