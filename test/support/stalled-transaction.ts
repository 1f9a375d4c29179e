import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../src/postgres/database.ts";
import type { Gate } from "./database-gate.ts";

/**
 * Stops a process inside a transaction, after the server has prepared its next statement. Returns a function
 * that lets the process continue and resolves when the transaction ends.
 */
export async function stall(gate: Gate, db: Database): Promise<{ goOn: () => Promise<void> }> {
  let wake: () => void = () => undefined;
  const awake = new Promise<void>((resolve) => (wake = resolve));
  let pid = 0;
  const transaction = gate.db.begin(async (tx) => {
    [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
    gate.freezeAfterNext();
    const next = tx`select length(${"x".repeat(4_000_000)})`.execute(); // Longer than one packet.
    await awake;
    await next;
  });
  const isStalled = async () =>
    (
      await db`select from pg_stat_activity where pid = ${pid} and state = 'active' and wait_event = 'ClientRead'`
    ).count === 1;
  const failed = transaction.then(
    () => assert.fail("it went on"),
    (error: unknown) => assert.fail(error as Error),
  );
  failed.catch(() => undefined); // The loop repeats the question until the transaction stalls or fails.
  while (!(await Promise.race([isStalled(), failed]))) await sleep(5);
  return {
    goOn: async () => {
      gate.thaw();
      wake();
      await transaction;
    },
  };
}
