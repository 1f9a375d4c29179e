import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../src/postgres/database.ts";
import type { ListenerOptions } from "../../src/postgres/driver/listener.ts";
import { Arrivals } from "../support/arrivals.ts";
import { createDatabase } from "../support/database.ts";
import { aGate } from "../support/database-gate.ts";

const db = await createDatabase();
const CHANNEL = "a channel";

/** A listener behind a gate, and the words that it has received. */
async function aListener(t: TestContext, options: Partial<ListenerOptions> = {}) {
  const gate = await aGate(t, db);
  const heard = new Arrivals<string>();
  const listener = gate.db.listen({
    channel: `select '${CHANNEL}' as name`,
    onNotification: (payload) => heard.add(payload),
    retryMs: 1,
    ...options,
  });
  assert.ok(listener);
  t.after(() => listener.stop());
  await listener.listening;
  return { gate, heard };
}

/** Sends until the word is received, because a listener without a connection receives nothing. */
async function untilHeard(heard: Arrivals<string>, word: string): Promise<void> {
  while (!heard.all.includes(word)) {
    await db`select pg_notify(${CHANNEL}, ${word})`;
    await sleep(5);
  }
}

test("a listener hears its channel", async (t) => {
  const { heard } = await aListener(t);
  await db`select pg_notify(${CHANNEL}, 'a word')`;
  assert.equal(await heard.until(([first]) => first), "a word");
});

test("a listener whose connection breaks connects again", async (t) => {
  const { gate, heard } = await aListener(t);
  await gate.close();
  await gate.open();
  await untilHeard(heard, "after the break");
});

test("a listener whose server falls silent connects again", async (t) => {
  const { gate, heard } = await aListener(t, { checkMs: 1, answerMs: 50 });
  const before = gate.dialled();
  gate.freeze();
  while (gate.dialled() === before) await sleep(5);
  gate.thaw();
  await untilHeard(heard, "after the silence");
});

test("a listener leaves a server that became a standby", async (t) => {
  const { gate, heard } = await aListener(t);
  gate.demote();
  await gate.close();
  await gate.open();
  const before = gate.dialled();
  while (gate.dialled() < before + 2) await sleep(5);
  gate.promote();
  await untilHeard(heard, "after the promotion");
});

test("there is no listener behind a pooler in transaction mode", async () => {
  const pooled = connect("postgres://localhost/x?pool_mode=transaction", { max: 1, name: "test" });
  assert.equal(pooled.listen({ channel: "", onNotification: () => undefined }), null);
  await pooled.end();
});
