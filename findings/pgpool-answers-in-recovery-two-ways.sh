#!/usr/bin/env bash
# Pgpool-II 4.3.5 (Debian 12, pgpool2) with its defaults, in front of PostgreSQL 15 (Debian 12) with one standby.
# One would expect that the ways to ask if a session is on a standby agree: the parameter in_hot_standby that the server reports when
# the session begins, current_setting('in_hot_standby'), and pg_is_in_recovery().
# With load_balance_mode, which is on by default, Pgpool-II sends what only reads to the standby. A volatile function is taken for a
# write: pg_is_in_recovery() is volatile and always asks the primary, and so does whatever stands beside it in one SELECT.
# So a client that checks by pg_is_in_recovery() never notices that its other reads may be old.
# Seen, with all reads sent to the standby:
#   pg_is_in_recovery(): f
#   current_setting('in_hot_standby'): on
#   both in one SELECT: f|off
set -euo pipefail

bin=/usr/lib/postgresql/15/bin
if [[ ! -x $bin/postgres ]] || ! command -v pgpool >/dev/null; then
  apt-get install -y -qq --no-install-recommends postgresql-15 pgpool2 >/dev/null
fi
folder=$(mktemp -d)
chmod 755 "$folder"
pgpool_pid=
stop() {
  [[ -z $pgpool_pid ]] || kill -INT "$pgpool_pid"
  for data in standby primary; do as_postgres "$bin/pg_ctl" -D "$folder/pg/$data" -m immediate stop >/dev/null || true; done
  [[ -z $pgpool_pid ]] || wait "$pgpool_pid" || true
  rm -rf "$folder"
}
as_postgres() { if [[ $EUID -eq 0 ]]; then (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); else "$@"; fi; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
trap stop EXIT

mkdir "$folder/pg"
[[ $EUID -ne 0 ]] || chown postgres "$folder/pg"
primary=$(free_port) standby=$(free_port) pool=$(free_port) control=$(free_port)
as_postgres "$bin/initdb" -D "$folder/pg/primary" -A trust -U postgres -N >/dev/null
start() {
  as_postgres "$bin/pg_ctl" -D "$folder/pg/$1" -l "$folder/pg/$1.log" -w \
    -o "-p $2 -c listen_addresses=127.0.0.1 -c unix_socket_directories=$folder/pg -c fsync=off" start >/dev/null
}
start primary "$primary"
as_postgres "$bin/pg_basebackup" -D "$folder/pg/standby" -h 127.0.0.1 -p "$primary" -U postgres -R -X stream -c fast
start standby "$standby"

cat >"$folder/pgpool.conf" <<CONF
backend_clustering_mode = 'streaming_replication'
sr_check_user = 'postgres'
backend_hostname0 = '127.0.0.1'
backend_port0 = $primary
backend_weight0 = 0
backend_hostname1 = '127.0.0.1'
backend_port1 = $standby
backend_weight1 = 1
listen_addresses = '127.0.0.1'
port = $pool
pcp_port = $control
socket_dir = '$folder'
pcp_socket_dir = '$folder'
wd_ipc_socket_dir = '$folder'
logdir = '$folder'
pid_file_name = '$folder/pid'
pool_passwd = ''
CONF
pgpool -n -D -f "$folder/pgpool.conf" -F /dev/null 2>"$folder/pgpool.log" &
pgpool_pid=$!
ask() { "$bin/psql" -X -At "host=127.0.0.1 port=$pool user=postgres dbname=postgres" -c "$1"; }
for _ in $(seq 100); do
  [[ $(ask 'show pool_nodes' 2>/dev/null | grep -c '|up|') == 2 ]] && break
  sleep 0.2
done

seen="pg_is_in_recovery(): $(ask 'select pg_is_in_recovery()')
current_setting('in_hot_standby'): $(ask "select current_setting('in_hot_standby')")
both in one SELECT: $(ask "select pg_is_in_recovery(), current_setting('in_hot_standby')")"
pgpool --version 2>&1
"$bin/postgres" --version
echo "$seen"
[[ $seen == "pg_is_in_recovery(): f
current_setting('in_hot_standby'): on
both in one SELECT: f|off" ]]
