#!/usr/bin/env bash
# Redis 7.0.15 of Debian 12: a stream that is trimmed before a consumer group has read it.
#
# One would expect: `max-deleted-entry-id` of XINFO STREAM is the largest id that was ever deleted, so a group whose
# `last-delivered-id` is below it has missed an entry.
# What happens: XDEL moves it, and XTRIM and XADD … MAXLEN do not. After a trim it is 0-0 still, and XREADGROUP passes over the
# trimmed entries without a word. Only the counts tell: `entries-added` minus `length` is more than the group's `entries-read`.
# Output seen: "after XTRIM: max-deleted 0-0, removed 5, read 2, next 6-0", "after XDEL: max-deleted 7-0".
set -euo pipefail

command -v redis-server >/dev/null || { echo "install Debian's redis-server first" >&2; exit 2; }
folder=$(mktemp -d)
redis-server --port 0 --unixsocket "$folder/socket" --dir "$folder" --save "" --logfile "$folder/log" &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$folder"' EXIT
ask() { redis-cli -s "$folder/socket" "$@"; }
until [[ $(ask PING 2>/dev/null) == PONG ]]; do sleep 0.1; done
of() { awk -v name="$1" 'found { print; exit } $0 == name { found = 1 }'; }

ask INFO server | grep redis_version
ask XGROUP CREATE orders bridge 0 MKSTREAM >/dev/null
for id in 1 2 3 4 5 6 7; do ask XADD orders "$id-0" n "$id" >/dev/null; done
ask XREADGROUP GROUP bridge one COUNT 2 STREAMS orders '>' >/dev/null
ask XACK orders bridge 1-0 2-0 >/dev/null
ask XTRIM orders MAXLEN 2 >/dev/null
deleted=$(ask XINFO STREAM orders | of max-deleted-entry-id)
removed=$(($(ask XINFO STREAM orders | of entries-added) - $(ask XINFO STREAM orders | of length)))
read=$(ask XINFO GROUPS orders | of entries-read)
next=$(ask XREADGROUP GROUP bridge one COUNT 1 STREAMS orders '>' | sed -n 2p)
echo "after XTRIM: max-deleted $deleted, removed $removed, read $read, next $next"
ask XDEL orders 7-0 >/dev/null
after=$(ask XINFO STREAM orders | of max-deleted-entry-id)
echo "after XDEL: max-deleted $after"
[[ "$deleted $removed $read $next $after" == "0-0 5 2 6-0 7-0" ]]
