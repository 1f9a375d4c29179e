// Depends on: src
import { test } from "node:test";
import { assertBalanced, runLedger } from "./ledger.ts";
import { anOutboxBroker } from "./outbox-ledger.ts";
import { SHORT } from "./plans.ts";

for (const read of ["rows", "replication"] as const) {
  test(`by ${read}, each row is one event while bridges, service and both databases are killed`, async (t) => {
    const plan = { ...SHORT, seed: Math.floor(Math.random() * 2 ** 31) };
    const ledger = await runLedger((afterwards) => anOutboxBroker(afterwards, read), plan);
    t.diagnostic(JSON.stringify({ seed: plan.seed, ...ledger }));
    assertBalanced(ledger);
  });
}
