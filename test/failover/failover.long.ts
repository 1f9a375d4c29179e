import assert from "node:assert/strict";
import { test } from "node:test";
import { summarize } from "../ledger/summary.ts";
import { requireProgram } from "../support/required.ts";
import { runFailover, SHORT } from "./failover.ts";

test("no accepted event is lost and no process restarts while a cluster under Patroni fails over", async (t) => {
  if (!(await requireProgram(t, "patroni", ["--version"]))) return;
  if (!(await requireProgram(t, "etcd", ["--version"]))) return;
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { run, failovers, complaints } = await runFailover(SHORT, seed, t.signal);
  for (const line of summarize({ ...SHORT.plan, seed }, run).split("\n")) t.diagnostic(line);
  for (const failover of failovers) t.diagnostic(JSON.stringify(failover));
  assert.deepEqual(complaints, [], `seed ${seed}`);
  assert.equal(failovers.length, SHORT.plan.databaseKills);
});
