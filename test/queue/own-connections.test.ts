import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createDeliverer } from "../../src/queue/deliver.ts";
import type { Responsiveness } from "../../src/queue/rules.ts";
import type { Post } from "../../src/queue/sender.ts";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { aDispatcher } from "../support/dispatcher.ts";
import { anEngineWith } from "../support/engine.ts";
import { onConnect } from "../support/network.ts";
import * as scripts from "../support/receiver-scripts.ts";
import type { Script } from "../support/receiver.ts";
import { DELIVERED, startPair } from "../support/sender.ts";

const db = await createDatabase();

const PATIENCE = { timeout: 10_000 };

const hangAtOnePath: Script = (exchange) => {
  if (exchange.received.path !== "/silent") scripts.status(200)(exchange);
};

test("an attempt that needs its own connection leaves the free one to others at its host", async (t) => {
  const { receiver, send } = await startPair(t);
  receiver.answer(hangAtOnePath);
  await send();
  void send(receiver.url("/silent"), { responsiveness: "silent" });
  while (receiver.requests.length < 2) await receiver.next();
  assert.deepEqual(await send(), DELIVERED);

  const [first, silent, last] = receiver.requests;
  assert.equal(last?.connection, first?.connection);
  assert.notEqual(silent?.connection, first?.connection);
});

test("no attempt waits for the own connection of another", PATIENCE, async (t) => {
  const { receiver, send } = await startPair(t, { timeoutMs: 20 * 2 * PATIENCE.timeout });
  receiver.answer(hangAtOnePath);
  void send(receiver.url("/silent"), { responsiveness: "silent" });
  assert.deepEqual(await send(), DELIVERED);
});

test("an attempt at a responsive receiver does not wait for the connection of another", async (t) => {
  const { receiver, send } = await startPair(t);
  await Promise.all([send(), send(receiver.url("/"), { responsiveness: "responsive" })]);
  const [one, other] = receiver.requests;
  assert.notEqual(one?.connection, other?.connection);
});

/** Returns how many of 20 connections begin in each of the next two iterations of the event loop. */
async function beginning(t: TestContext, responsiveness: Responsiveness) {
  let begun = 0;
  onConnect(t, (socket) => {
    begun++;
    return socket;
  });
  const { send } = await startPair(t);
  for (let n = 1; n <= 20; n++)
    void send(`https://127.0.0.2:${n}/`, {
      organizationId: n % 4 === 0 ? "small" : "large",
      responsiveness,
    });
  const counts: number[] = [];
  for (let iteration = 0; iteration < 2; iteration++) {
    await setImmediate();
    counts.push(begun);
    begun = 0;
  }
  return counts;
}

test("each organization begins one connection in an iteration of the event loop", async (t) => {
  assert.deepEqual(await beginning(t, "unknown"), [2, 2]);
});

test("the same applies to receivers that do not answer", async (t) => {
  assert.deepEqual(await beginning(t, "silent"), [2, 2]);
});

test("all connections to responsive receivers begin immediately", async (t) => {
  assert.deepEqual(await beginning(t, "responsive"), [20, 0]);
});

test("an attempt is told what the one before shows about its receiver", async (t) => {
  for (const [signal, next] of [
    ["answered", "responsive"],
    ["unanswered", "silent"],
  ] as const) {
    const one = { subscriptionConcurrency: 1, signal, unansweredMs: 0 };
    const d = aDispatcher(t, { a: 2 }, one);
    d.dispatcher.start();
    for (const responsiveness of ["unknown", next]) {
      await d.reaches(1);
      assert.deepEqual(
        d.inFlight.map((attempt) => attempt.responsiveness),
        [responsiveness],
      );
      d.endOne("a");
    }
  }
});

test("a sender is told whether the receiver is responsive", async () => {
  const { deps, claim } = await anEngineWith(db, 1);
  const [claimed] = await claim();
  assert.ok(claimed);

  const posts: Post[] = [];
  const nothing = () => Promise.resolve();
  const deliver = createDeliverer({
    send: (post) => {
      posts.push(post);
      return Promise.resolve({ kind: "deferred" });
    },
    clock: deps.clock,
    record: nothing,
    postpone: nothing,
    defer: nothing,
    onInternalFault: () => undefined,
    onEnded: () => undefined,
  });
  await deliver(claimed);
  await deliver(claimed, "silent");
  assert.deepEqual(column(posts, "responsiveness"), ["unknown", "silent"]);
  assert.equal(posts[0]?.organizationId, claimed.organizationId);
});
