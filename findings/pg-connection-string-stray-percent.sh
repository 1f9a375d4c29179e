#!/usr/bin/env bash
# pg-connection-string 2.14.1 (npm), which pg 8 uses for its connection strings, on any Node.js.
# One would expect that an encoded character of a password, such as %2F for /, is decoded whatever stands elsewhere in the URL.
# Where any part of the URL has a space or a percent sign that encodes nothing, the whole URL is encoded again, and only codes of two
# decimal digits are restored. So %2F arrives as the three characters %2F: the sign-in fails with a wrong password, and nothing says why.
# Seen:
#   postgres://u:a%2Fb@h/d                      password a/b
#   postgres://u:a%2Fb@h/d?application_name=x y password a%2Fb
#   postgres://u:a%20b%@h/d                     password a b%
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts pg-connection-string@2.14.1

seen=$(node -e '
  const { parse } = require("pg-connection-string");
  for (const url of ["postgres://u:a%2Fb@h/d", "postgres://u:a%2Fb@h/d?application_name=x y", "postgres://u:a%20b%@h/d"])
    console.log(`${url.padEnd(43)} password ${parse(url).password}`);')
echo "pg-connection-string $(sed -n 's/.*"version": "\(.*\)".*/\1/p' node_modules/pg-connection-string/package.json)"
echo "$seen"
expected='postgres://u:a%2Fb@h/d                      password a/b
postgres://u:a%2Fb@h/d?application_name=x y password a%2Fb
postgres://u:a%20b%@h/d                     password a b%'
[[ $seen == "$expected" ]]
