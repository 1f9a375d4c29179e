#!/usr/bin/env bash
# PostgreSQL 15 and postgresql-15-pglogical 2.4.2 (Debian).
# Expected: whoever owns a table can drop it, whatever extensions the database has.
# Happens: in a database with pglogical, DROP of any object fails for everybody but superusers: "permission denied for schema
# pglogical". Its event trigger reads its own tables as the current role. USAGE on the schema is enough.
set -euo pipefail

bin=/usr/lib/postgresql/15/bin
[[ -x $bin/initdb && -e /usr/share/postgresql/15/extension/pglogical.control ]] ||
  { echo "skipped: needs postgresql-15 and postgresql-15-pglogical"; exit 0; }
folder=$(mktemp -d)

# PostgreSQL refuses root.
as() { if [[ $(id -u) == 0 ]]; then runuser -u postgres -- "$@"; else "$@"; fi; }
stop() { as "$bin/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null; rm -rf "$folder"; }
[[ $(id -u) != 0 ]] || chown postgres "$folder"
as "$bin/initdb" -D "$folder/data" -U postgres -A trust --no-sync > /dev/null
as "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w start -o "-F -k $folder -h '' -c shared_preload_libraries=pglogical -c wal_level=logical" > /dev/null
trap stop EXIT

sql() { as psql -X -q -A -t -h "$folder" "$@" 2>&1; }
sql -U postgres -c 'create role owner login' -c 'create database d owner owner' postgres
sql -U postgres -c 'create extension pglogical' d
sql -U owner -c 'create table public.t ()' d
refused=$(sql -U owner -c 'drop table t' d || true)
printf 'the owner drops the table: %s\n' "$refused"
sql -U postgres -c 'grant usage on schema pglogical to owner' d
sql -U owner -c 'drop table t' d && echo 'with usage on the schema it is dropped'
[[ $refused == *"permission denied for schema pglogical"* ]]
