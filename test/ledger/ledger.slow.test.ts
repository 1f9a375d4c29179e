// Depends on: src

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { faultsOfRun, runLedger } from "./ledger.ts";
import { type Plan, SHORT } from "./plan.ts";
import { WAYS } from "./publications.ts";
import { summarize } from "./summary.ts";

test("no accepted event is lost, and each key has one event, while publishers, services and PostgreSQL are killed", (t) =>
  aLedger(t, SHORT));

test("the same while workers and their parents are killed", (t) =>
  aLedger(t, { ...SHORT, workers: 3, kills: 8, overMs: 15_000, limitMs: 180_000 }));

async function aLedger(t: TestContext, size: Omit<Plan, "seed">): Promise<void> {
  const plan = { ...size, seed: Math.floor(Math.random() * 2 ** 31) };
  const run = await runLedger(plan, t.signal);
  for (const line of summarize(plan, run).split("\n")) t.diagnostic(line);
  assert.deepEqual(faultsOfRun(run), [], `seed ${plan.seed}`);
  assert.equal(run.called.accepted.length, plan.events);
  assert.ok(run.publications.answers.size >= (plan.published ?? Infinity));
  assert.ok(run.publications.duplicates > 0, "answers were lost, and their keys repeated");
  assert.deepEqual([...run.publications.byWay.keys()].sort(), [...WAYS].sort());
}
