// Depends on: src

import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfRun, runLedger } from "./ledger.ts";
import { SHORT } from "./plan.ts";
import { WAYS } from "./publications.ts";
import { summarize } from "./summary.ts";

test("no accepted event is lost, and each key has one event, while publishers, services and PostgreSQL are killed", async (t) => {
  const plan = { ...SHORT, seed: Math.floor(Math.random() * 2 ** 31) };
  const run = await runLedger(plan, t.signal);
  for (const line of summarize(plan, run).split("\n")) t.diagnostic(line);
  assert.deepEqual(faultsOfRun(run), [], `seed ${plan.seed}`);
  assert.equal(run.called.accepted.length, plan.events);
  assert.ok(run.publications.answers.size >= (plan.published ?? Infinity));
  assert.ok(run.publications.duplicates > 0, "answers were lost, and their keys repeated");
  assert.deepEqual([...run.publications.byWay.keys()].sort(), [...WAYS].sort());
});
