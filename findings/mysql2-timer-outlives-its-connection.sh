#!/usr/bin/env bash
# mysql2 3.24.6: the timer of a query outlives the connection.
#
# One would expect: a query with the option `timeout` that fails because its connection is lost takes its timer away.
# What happens: the query is rejected at once, and its timer stays set. It keeps the process alive for the rest of the time.
# Output seen: "rejected with PROTOCOL_CONNECTION_LOST", "left open: Timeout", "the process ended after 4 s".
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error mysql2@3.24.6

cat >query.mjs <<'JS'
import mysql from "mysql2";
import { once } from "node:events";

// The server of the package itself: it greets, and ends the connection instead of answering a query.
const server = mysql.createServer();
server.on("connection", (connection) => {
  connection.serverHandshake({
    protocolVersion: 4,
    serverVersion: "8.0.0",
    connectionId: 1,
    statusFlags: 2,
    characterSet: 33,
    capabilityFlags: 0xffffff,
  });
  connection.on("error", () => {});
  connection.on("query", () => connection.stream.destroy());
});
server.listen(0, "127.0.0.1");
await once(server._server, "listening");
const { port } = server._server.address();

const client = mysql.createConnection({ host: "127.0.0.1", port, user: "a", connectTimeout: 0 });
client.on("error", () => {});
const startMs = performance.now();
const error = await new Promise((resolve) => client.query({ sql: "select 1", timeout: 4_000 }, resolve));
console.log("rejected with", error.code);
server._server.close();
client.destroy();
console.log("left open:", process.getActiveResourcesInfo().filter((one) => one === "Timeout").join());
process.on("exit", () => {
  console.log("the process ended after", Math.round((performance.now() - startMs) / 1_000), "s");
});
JS
printf 'mysql2 %s\n' "$(node -p 'require("mysql2/package.json").version')"
node query.mjs | tee out
grep -q 'left open: Timeout' out
grep -q 'ended after 4 s' out
