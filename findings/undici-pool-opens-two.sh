#!/usr/bin/env bash
# undici 7.30.2: a Pool opens a second connection for requests that never overlap.
#
# One would expect: a caller that awaits each answer, body included, before it sends the next request needs one connection, and
# a Pool opens another one only while its first is in use.
# What happens: when the body has been read, the Client of the first connection still counts as busy until a later turn of the event
# loop. A request that is sent right then goes to a new Client. So 200 requests in a row use two connections, with any
# `connections` above 1. With a turn (`setImmediate`) between the requests, they use one.
# Output seen: "at once: 2 connections", "a turn later: 1 connections".
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error undici@7.30.2

cat > try.mjs <<'JS'
import { once } from "node:events";
import { createServer } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { Pool } from "undici";

async function connectionsOf(between) {
  let connections = 0;
  const server = createServer((_request, response) => response.end("ok"));
  server.on("connection", () => connections++).listen(0, "127.0.0.1");
  await once(server, "listening");
  const pool = new Pool(`http://127.0.0.1:${server.address().port}`, { connections: 32 });
  for (let i = 0; i < 200; i++) {
    const { body } = await pool.request({ method: "GET", path: "/" });
    await body.text();
    await between();
  }
  await pool.close();
  server.close();
  return connections;
}

const [atOnce, later] = [await connectionsOf(() => undefined), await connectionsOf(turn)];
console.log(`at once: ${atOnce} connections`);
console.log(`a turn later: ${later} connections`);
process.exit(atOnce === 2 && later === 1 ? 0 : 1);
JS
node -p '`undici ${require("undici/package.json").version}, Node.js ${process.version}`'
node try.mjs
