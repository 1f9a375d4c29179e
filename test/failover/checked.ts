import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { summarize } from "../ledger/summary.ts";
import { column } from "../support/columns.ts";
import { requireProgram } from "../support/required.ts";
import { type Failover, runFailover, type Size, whatIsPossible } from "./failover.ts";

/** Runs the ledger while a cluster fails over, and asserts that it has no complaint. Null if a program is missing. */
export async function checkFailover(t: TestContext, wanted: Size): Promise<Failover[] | null> {
  for (const program of ["patroni", "etcd"]) {
    if (!(await requireProgram(t, program, ["--version"]))) return null;
  }
  const size = await whatIsPossible(wanted);
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { run, failovers, complaints } = await runFailover(size, seed, t.signal);
  for (const line of summarize({ ...size.plan, seed }, run).split("\n")) t.diagnostic(line);
  for (const failover of failovers) t.diagnostic(JSON.stringify(failover));
  assert.deepEqual(complaints, [], `seed ${seed}`);
  assert.deepEqual(column(failovers, "fault"), size.faults);
  return failovers;
}
