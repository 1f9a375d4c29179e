#!/usr/bin/env bash
# haproxy 2.6.12 of Debian 12 (3.0.11 of Debian 13 does the same).
# Expected: `haproxy -c` refuses a file that the start refuses.
# Happens: where the hard limit of open files is too low for `maxconn`, `haproxy -c` says that the file is valid, without a warning, and
# the start ends with "Cannot raise FD limit". In a container with a restart policy the balancer then restarts for ever. With
# `fd-hard-limit` in place of `maxconn` haproxy computes the number from the limit, and names it only with the option -V.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
if ! command -v haproxy >/dev/null; then
  apt-get download -qq haproxy
  dpkg -x haproxy_*.deb .
  PATH=$folder/usr/sbin:$PATH
fi
haproxy -v | sed -n 1p

write() {
  printf 'global\n  %s\ndefaults\n  mode http\n  timeout connect 1s\n  timeout client 1s\n  timeout server 1s\n' "$1"
  printf 'frontend f\n  bind unix@%s/socket\n' "$folder"
}
ulimit -n 1024
write "maxconn 20000" >fixed.cfg
write "fd-hard-limit 40100" >computed.cfg

haproxy -c -q -f fixed.cfg && echo "haproxy -c: the file is valid"
if timeout 2 haproxy -db -f fixed.cfg 2>said; then exit 1; fi
grep -o 'Cannot raise FD limit to [0-9]*, limit is 1024.' said
timeout 2 haproxy -db -V -f computed.cfg >/dev/null 2>said || true
grep -o 'Note: setting global.maxconn to [0-9]*.' said
