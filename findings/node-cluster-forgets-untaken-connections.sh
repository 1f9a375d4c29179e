#!/usr/bin/env bash
# node 24.21.0 (npm package `node`), node:cluster with its default scheduling, on Linux. 20.20.2 and 26.10.0 do the same.
#
# Expected: a connection that the primary gave to a worker, and that the worker had not taken when it was killed, goes to another worker
# or is closed.
# Found: it stays open in the primary for ever, with another worker running. Its client gets neither an answer nor an end. The primary
# waits for the worker's reply, keeps the handle with the callback, and removes neither when the worker exits.
# A second connection, which waited in the primary's own queue, is served by the other worker.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0
cat > check.mjs <<'JS'
import cluster from "node:cluster";
import http from "node:http";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

if (cluster.isWorker) {
  http.createServer((_, response) => response.end("ok")).listen(0, "127.0.0.1");
} else {
  const first = cluster.fork();
  const { port } = await new Promise((r) => cluster.once("listening", (_, address) => r(address)));
  first.process.kill("SIGSTOP"); // It takes nothing more, like one that is killed at the wrong moment.
  const clients = [1, 2].map(() => {
    const client = { state: "hangs" };
    const socket = net.connect(port, "127.0.0.1", () =>
      socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
    );
    socket.on("data", () => (client.state = "answered"));
    socket.on("error", () => undefined);
    socket.on("close", () => (client.state = client.state === "hangs" ? "closed" : client.state));
    return client;
  });
  await sleep(500);
  cluster.fork();
  await sleep(1_000);
  first.process.kill("SIGKILL");
  await sleep(3_000);
  const states = clients.map(({ state }) => state).sort();
  console.log(process.version, states.join(", "));
  process.exit(states.join() === "answered,hangs" ? 0 : 1);
}
JS
node_modules/.bin/node check.mjs
