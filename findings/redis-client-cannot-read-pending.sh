#!/usr/bin/env bash
# Clients of Redis and a stream: @redis/client 6.3.1 and ioredis 6.0.0 (npm), redis 8.1.0 (PyPI), with Redis 7.0.15 of Debian 12.
#
# Expected: a consumer that starts again reads what is pending for it, with XREADGROUP from 0. For an entry that was deleted meanwhile the
# server sends nil in the place of its fields. An entry may have a field twice, as XADD takes it.
# Found: @redis/client throws a TypeError for the whole answer, so the entries behind the deleted one stay pending. redis for Python has an entry
# without fields, as one that was empty. Both keep the last of two fields of one name, and ioredis has what the server sent.
set -euo pipefail

command -v redis-server > /dev/null || { echo "install Debian's redis-server first" >&2; exit 2; }
folder=$(mktemp -d)
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @redis/client@6.3.1 ioredis@6.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check redis==8.1.0
redis-server --port 0 --unixsocket "$folder/socket" --dir "$folder" --save "" --logfile "$folder/log" &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$folder"' EXIT
ask() { redis-cli -s "$folder/socket" "$@"; }
until [[ $(ask PING 2> /dev/null) == PONG ]]; do sleep 0.1; done

ask XADD orders 1-0 n 1 > /dev/null
ask XADD orders 2-0 item a item b > /dev/null
ask XGROUP CREATE orders bridge 0 > /dev/null
ask XREADGROUP GROUP bridge one STREAMS orders '>' > /dev/null
cat > check.mjs <<'JS'
import { createClient } from "@redis/client";
import Redis from "ioredis";

const client = createClient({ socket: { path: "socket" } });
await client.connect();
try {
  const [{ messages }] = await client.xReadGroup("bridge", "one", { key: "orders", id: "0" });
  console.log("@redis/client:", JSON.stringify(messages));
} catch (error) {
  console.log("@redis/client:", String(error));
}
await client.close();
const io = new Redis(`${process.cwd()}/socket`);
const [[, entries]] = await io.xreadgroup("GROUP", "bridge", "one", "STREAMS", "orders", "0");
console.log("ioredis:", JSON.stringify(entries));
io.disconnect();
JS
cat > check.py <<'PY'
import redis

client = redis.Redis(unix_socket_path="socket", decode_responses=True)
print("redis for Python:", client.xreadgroup("bridge", "one", {"orders": "0"}))
PY
{
  echo "with both entries"
  node check.mjs
  venv/bin/python check.py
  ask XDEL orders 1-0 > /dev/null
  echo "after the first is deleted"
  node check.mjs
  venv/bin/python check.py
} | tee found
diff found - <<'TEXT'
with both entries
@redis/client: [{"id":"1-0","message":{"n":"1"}},{"id":"2-0","message":{"item":"b"}}]
ioredis: [["1-0",["n","1"]],["2-0",["item","a","item","b"]]]
redis for Python: [['orders', [('1-0', {'n': '1'}), ('2-0', {'item': 'b'})]]]
after the first is deleted
@redis/client: TypeError: Cannot read properties of null (reading 'length')
ioredis: [["1-0",null],["2-0",["item","a","item","b"]]]
redis for Python: [['orders', [('1-0', {}), ('2-0', {'item': 'b'})]]]
TEXT
