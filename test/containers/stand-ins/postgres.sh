#!/usr/bin/env bash
# The first start makes the cluster and runs the scripts, on a socket alone. Every start runs the server as postgres.
set -euo pipefail
if [[ ${1:0:1} == - ]]; then set -- postgres "$@"; fi
if ((EUID == 0)); then
  chown postgres: "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --locale=C.UTF-8 \
    --auth-local=trust --auth-host=scram-sha-256 >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -w start -o "-c listen_addresses=''" >/dev/null
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  for script in /docker-entrypoint-initdb.d/*.sh; do PGUSER=$POSTGRES_USER sh "$script"; done
  pg_ctl -w -m fast stop >/dev/null
fi
exec "$@" -c listen_addresses='*'
