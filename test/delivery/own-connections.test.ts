import assert from "node:assert/strict";
import { test } from "node:test";
import { createDeliverer } from "../../src/delivery/deliver.ts";
import type { Post } from "../../src/delivery/sender.ts";
import { createDatabase } from "../support/database.ts";
import { aDispatcher } from "../support/dispatcher.ts";
import { anEngineWith } from "../support/engine.ts";
import type { Script } from "../support/receiver.ts";
import * as scripts from "../support/receiver-scripts.ts";
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
  void send(receiver.url("/silent"), { needsOwnConnection: true });
  while (receiver.requests.length < 2) await receiver.next();
  assert.deepEqual(await send(), DELIVERED);

  const [first, silent, last] = receiver.requests;
  assert.equal(last?.connection, first?.connection);
  assert.notEqual(silent?.connection, first?.connection);
});

test("no attempt waits for the own connection of another", PATIENCE, async (t) => {
  const { receiver, send } = await startPair(t, { timeoutMs: 20 * 2 * PATIENCE.timeout });
  receiver.answer(hangAtOnePath);
  void send(receiver.url("/silent"), { needsOwnConnection: true });
  assert.deepEqual(await send(), DELIVERED);
});

test("an attempt is told whether the one before got no answer", async (t) => {
  for (const signal of ["answered", "unanswered"] as const) {
    const one = { subscriptionConcurrency: 1, signal, unansweredMs: 0 };
    const d = aDispatcher(t, { a: 2 }, one);
    d.dispatcher.start();
    for (const wasUnanswered of [false, signal === "unanswered"]) {
      await d.reaches(1);
      assert.deepEqual(
        d.inFlight.map((attempt) => attempt.wasUnanswered),
        [wasUnanswered],
      );
      d.endOne("a");
    }
  }
});

test("an attempt after one without an answer needs its own connection", async () => {
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
  for (const wasUnanswered of [false, true]) await deliver(claimed, wasUnanswered);
  assert.deepEqual(
    posts.map((post) => post.needsOwnConnection),
    [false, true],
  );
});
