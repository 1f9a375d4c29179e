#!/usr/bin/env bash
# Restores the newest backup into a folder of its own, checks it, and removes it. Run it monthly on a machine that reads the
# backups and has the key ring. It starts no service, so nothing is sent.
#
#   restore-drill.sh                               the newest state
#   restore-drill.sh '2026-11-24 03:00:00+00'      the state of that moment
#
# SEALING_KEYS must be set. The others have defaults:
#   PGBACKREST_CONFIG (/etc/pgbackrest.conf), STANZA (partner), DATABASE (partner), SCHEMA (public),
#   SERVICE_ROLE (partner_service), DRILL_DIR (/var/tmp), PG_BIN (pg_config --bindir), PARTNER_API (partner-api)
# With several cells, run it for the database of each.
set -euo pipefail
: "${SEALING_KEYS:?set it: the drill proves that the ring opens the secrets of the backup}"
bin=${PG_BIN:-$(pg_config --bindir)}
moment=${1:-}
schema=${SCHEMA:-public}

# PostgreSQL refuses root.
as_postgres() {
  if ((EUID == 0)); then setpriv --reuid=postgres --regid=postgres --init-groups "$@"; else "$@"; fi
}

folder=$(mktemp -d "${DRILL_DIR:-/var/tmp}/restore-drill.XXXXXX")
if ((EUID == 0)); then chown postgres: "$folder"; fi
cleanup() {
  as_postgres "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"

echo "restoring ${moment:-the newest state}"
as_postgres mkdir -m 700 "$folder/data"
to=(--type=default)
if [[ $moment ]]; then to=(--type=time "--target=$moment" --target-action=promote); fi
as_postgres pgbackrest "--config=${PGBACKREST_CONFIG:-/etc/pgbackrest.conf}" "--stanza=${STANZA:-partner}" \
  "--pg1-path=$folder/data" "${to[@]}" restore

# A server of its own: only on a socket, with its own access rules, archiving nothing.
printf 'local all all trust\n' | as_postgres tee "$folder/hba" >/dev/null
as_postgres "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 3600 start -o "-c listen_addresses='' \
  -c port=5432 -c unix_socket_directories=$folder -c hba_file=$folder/hba -c archive_mode=off \
  -c synchronous_standby_names=''" >/dev/null || { cat "$folder/log" >&2; exit 1; }
socket=${folder//\//%2F}
psql() { PGOPTIONS="-c search_path=$schema" as_postgres "$bin/psql" -XAtq -v ON_ERROR_STOP=1 -h "$folder" -d "${DATABASE:-partner}" "$@"; }
until [[ $(psql -c 'select pg_is_in_recovery()') == f ]]; do sleep 0.2; done

# Reads every row, which checks the checksum of every page.
as_postgres "$bin/pg_dump" -h "$folder" -d "${DATABASE:-partner}" -Fc >/dev/null
echo "newest event: $(psql -c "select coalesce(max(occurred_at)::text, 'none') from events")"
echo "waiting deliveries: $(psql -c 'select count(*) from waiting_deliveries')"
cell=$(psql -c "select value from settings where name = 'cell'")
echo "cell: $cell"
url="postgres://${SERVICE_ROLE:-partner_service}@$socket:5432/${DATABASE:-partner}?search_path=$schema"
CELL="$cell" DATABASE_URL="$url" MIGRATION_DATABASE_URL='' \
  DATA_DIR="$folder" PORT=0 OPERATOR_PORT=0 ADMIN_TOKEN='' "${PARTNER_API:-partner-api}" doctor
echo "the backup is good"
