#!/usr/bin/env bash
# node 24.21.0 (npm package `node`), node:cluster with its default scheduling, on Linux. 20.20.2 does the same.
#
# Expected: a worker whose primary was killed hears `disconnect`, as the documentation says, and ends with status 0.
# Found: if a connection was on its way to the worker at that moment, the worker ends with status 1 and an unhandled 'error' event,
# "write EPIPE". Node.js tells the dead primary that the connection was accepted, and the failure is an error of `cluster.worker`.
# A listener for `error` on `cluster.worker` is necessary for a worker that finishes its work after `disconnect`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0
cat > primary.mjs <<'JS'
import cluster from "node:cluster";
import http from "node:http";
import net from "node:net";
import { writeFileSync } from "node:fs";

if (cluster.isWorker) {
  http.createServer((_, response) => response.end("ok")).listen(0, "127.0.0.1");
  process.on("exit", (status) => writeFileSync(process.env.TOLD, `status ${status}`));
  process.on("uncaughtExceptionMonitor", (error) => console.log(error.message));
} else {
  const worker = cluster.fork();
  cluster.once("listening", (_, { port }) => {
    worker.process.kill("SIGSTOP");
    if (process.env.WITH_CONNECTION === "no") process.send?.(worker.process.pid);
    else
      net.connect(port, "127.0.0.1", () =>
        setTimeout(() => process.send(worker.process.pid), 500),
      );
  });
}
JS
cat > check.mjs <<'JS'
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

async function endOf(withConnection) {
  const env = { ...process.env, TOLD: `told-${withConnection}`, WITH_CONNECTION: withConnection };
  const primary = fork("primary.mjs", { env, stdio: ["ignore", "inherit", "ignore", "ipc"] });
  const [pid] = await once(primary, "message");
  primary.kill("SIGKILL");
  await once(primary, "exit");
  process.kill(pid, "SIGCONT");
  await sleep(1_500);
  return readFileSync(env.TOLD, "utf8");
}
const without = await endOf("no");
const found = await endOf("yes");
console.log(`${process.version}: without a connection ${without}, with one ${found}`);
process.exit(without === "status 0" && found === "status 1" ? 0 : 1);
JS
node_modules/.bin/node check.mjs
