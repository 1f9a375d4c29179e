#!/usr/bin/env bash
# prom-client 15.1.3, AggregatorRegistry.clusterMetrics() in a primary with two workers.
#
# Expected: a counter of the cluster never falls, as Prometheus requires of a counter.
# Found: when a worker ends, what it had counted leaves the sum. 200 becomes 100. Prometheus takes the fall for a restart and counts the
# remaining 100 as an increase: `increase()` shows a hundred events that never happened. `process_start_time_seconds`, which could tell,
# is omitted from the aggregate.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund prom-client@15.1.3
cat > check.mjs <<'JS'
import cluster from "node:cluster";
import { once } from "node:events";
import { AggregatorRegistry, collectDefaultMetrics, Counter } from "prom-client";

const registry = new AggregatorRegistry();
if (cluster.isWorker) {
  collectDefaultMetrics();
  new Counter({ name: "orders_total", help: "Orders" }).inc(100);
  process.send("counted");
  setInterval(() => undefined, 1_000);
} else {
  const workers = [cluster.fork(), cluster.fork()];
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const read = async () => {
    const text = await registry.clusterMetrics();
    return [/^orders_total (\d+)$/m.exec(text)?.[1], text.includes("process_start_time_seconds")];
  };
  const [before, hasStart] = await read();
  workers[0].process.kill("SIGKILL");
  await once(workers[0], "exit");
  const [after] = await read();
  console.log(`before ${before}, after the end of a worker ${after}, start time exposed: ${hasStart}`);
  process.exit(before === "200" && after === "100" && !hasStart ? 0 : 1);
}
JS
node check.mjs
