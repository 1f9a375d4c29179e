#!/usr/bin/env bash
# npm 11.6.0 (10.9.4 and 11.19.1 do the same).
# Expected: in a folder that was installed with --omit=dev, `npm sbom --omit=dev` lists what is installed. `npm ls --omit=dev` misses nothing.
# Happens: the omitted packages are "missing" (ESBOMPROBLEMS), and there is no bill. There is one when the manifest no longer names them
# (`npm pkg delete devDependencies`). With --package-lock-only there is one too, but it also lists what is not installed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-save --prefix "$folder/npm" npm@11.6.0
npm() { "$folder/npm/node_modules/.bin/npm" "$@"; }
echo "npm $(npm --version)"

mkdir shop
cd shop
cat >package.json <<'JSON'
{ "name": "shop", "version": "1.0.0", "dependencies": { "wrappy": "1.0.2" }, "devDependencies": { "once": "1.4.0" } }
JSON
npm install --silent --omit=dev --ignore-scripts --no-audit --no-fund

npm ls --omit=dev >/dev/null && echo "npm ls --omit=dev: nothing is missing"
if npm sbom --omit=dev --sbom-format=cyclonedx >bill 2>said; then
  echo "npm sbom --omit=dev: a bill. It has changed"
  exit 1
fi
grep -oE 'code ESBOMPROBLEMS|missing: once@1.4.0, required by shop@1.0.0' said
npm pkg delete devDependencies
npm sbom --omit=dev --sbom-format=cyclonedx | grep -o '"purl": .*wrappy@1.0.2"'
