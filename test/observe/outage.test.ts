import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, pino } from "pino";
import { Outage, Writes } from "../../src/observe/outage.ts";
import { column } from "../support/columns.ts";
import { aGate } from "../support/database-gate.ts";
import { createDatabase } from "../support/database.ts";

const db = await createDatabase();

interface Line {
  level: number;
  msg: string;
  failures?: number;
  err?: { message: string };
}

function aLog() {
  const lines: Line[] = [];
  const log: Logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as Line) });
  return { log, lines, told };

  /** Polls, because an outage keeps neither a process nor a test alive. */
  async function told(what: string): Promise<Line> {
    for (;;) {
      const line = lines.find(({ msg }) => msg.includes(what));
      if (line) return line;
      await sleep(2);
    }
  }
}

test("an outage is logged when it begins, while it lasts, and when it ends", async (t) => {
  const gate = await aGate(t, db);
  const { log, lines, told } = aLog();
  const outage = new Outage(new Writes(gate.db), log, { checkMs: 5, quietMs: 10, remindMs: 20 });

  await gate.close();
  for (let i = 0; i < 500; i++) outage.note(new Error("connect ECONNREFUSED"));
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.err?.message, "connect ECONNREFUSED");

  await told("is still unavailable");
  await gate.open();
  const end = await told("is available again");
  assert.equal(end.failures, 500);

  outage.note(new Error("once more"));
  assert.equal(lines.at(-1)?.err?.message, "once more");
  outage.stop();
});

test("a database that reads but does not write is an outage until it writes again", async () => {
  const single = await createDatabase({ max: 1 });
  const { log, lines, told } = aLog();
  const outage = new Outage(new Writes(single), log, { checkMs: 2, quietMs: 1, remindMs: 0 });

  await single`set default_transaction_read_only = on`;
  outage.note(new Error("cannot execute INSERT in a read-only transaction"));
  while (lines.length < 2) await sleep(2);
  assert.equal(lines[1]?.msg, "the database is still unavailable");

  await single`set default_transaction_read_only = off`;
  await told("is available again");
});

test("repeated failures are one outage, even while the database responds", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { log, lines } = aLog();
  const writes = new Writes(db);
  const outage = new Outage(writes, log, { checkMs: 1, quietMs: 500, remindMs: 60_000 });
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    await writes.check(); // The outage has begun this check.
    await new Promise(setImmediate);
  };
  for (let failure = 0; failure < 6; failure++) {
    outage.note(new Error("disk full"));
    await pass(499);
  }
  assert.equal(lines.length, 1);
  await pass(1);
  assert.deepEqual(column(lines.slice(1), "msg"), ["the database is available again"]);
});
