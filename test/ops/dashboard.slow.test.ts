// Depends on: src, ops
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { loadGatewayConfig } from "../../src/gateway/config.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import { startService } from "../support/service.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { requireProgram } from "../support/required.ts";
import { aRig, aSubscriber, call } from "../support/rig.ts";
import { ROOT } from "../support/root.ts";
import { startPrometheus } from "./prometheus.ts";

interface Panel {
  targets: { expr: string }[];
}

const { panels } = JSON.parse(await readFile(join(ROOT, "ops/dashboard.json"), "utf8")) as {
  panels: Panel[];
};
/** Prometheus scrapes every second here, so rates over a minute exist after two scrapes. */
const queries = panels.flatMap(({ targets }) =>
  targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "1m")),
);

/** Only a service with EXPORT_COMMAND has this metric, and root runs no such command. */
const EXPORTS = "partner_api_history_exports";

test("every query of the dashboard finds data in a Prometheus that scrapes the service", async (t) => {
  if (!(await requireProgram(t, "prometheus", ["--version"]))) return;
  assert.ok(queries.length > 15);
  const { DATA_DIR = "", EGRESS_ALLOW = "", EGRESS_CA_FILE = "" } = await aRig(t);
  // Only the built-in database has a disk to watch.
  const program = await startService(t, { DATA_DIR, EGRESS_ALLOW, EGRESS_CA_FILE });
  const { receiver, partner, subscription } = await aSubscriber(t, program);
  const deliver = async () => {
    await partner.ping(subscription);
    await receiver.next();
  };
  await deliver();

  const cells = { ADMIN_TOKEN, OPERATOR_PORT: "0", CELLS: `00=${program.operatorUrl}` };
  const gateway = await startGateway(loadGatewayConfig(cells), { write: () => true });
  t.after(() => gateway.stop());
  const overview = `${gateway.operatorUrl}/api/v1/admin/overview`;
  const ask = await startPrometheus(t, {
    ...{ "partner-api": program.operatorUrl, "partner-api-gateway": gateway.operatorUrl },
  });
  for (const query of queries.filter((one) => !one.includes(EXPORTS))) {
    for (;;) {
      const found = await ask(query);
      if (found.some(({ value: [, number] }) => number !== "NaN")) break;
      await deliver(); // A share requires attempts between two scrapes.
      await call(overview, { token: ADMIN_TOKEN });
      t.signal.throwIfAborted();
      await delay(500);
    }
  }
  await program.stop();
});

test("every metric of ours is in the dashboard", async () => {
  const sources = await Promise.all(
    ["observe/metrics.ts", "gateway/metrics.ts"].map((file) =>
      readFile(join(ROOT, "src", file), "utf8"),
    ),
  );
  const names = sources.flatMap(
    (source) => source.match(/(?<=name: ")partner_api_\w+(?=")/g) ?? [],
  );
  assert.ok(names.length > 10);
  const missing = names.filter((name) => !queries.some((query) => query.includes(name)));
  assert.deepEqual(missing, []);
});
