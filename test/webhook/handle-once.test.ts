import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { handleOnce, type EventStore } from "../../src/webhook/handle-once.ts";
import { createMemoryStore } from "../../src/webhook/memory-store.ts";

const event = { id: "evt_1" };
const DAY = 24 * 3_600_000;

/** A store with a clock that the test moves. */
function aStore() {
  const clock = { now: 0 };
  return { clock, store: createMemoryStore({ now: () => clock.now }) };
}

test("an event that arrives several times is handled once", async () => {
  const { store, clock } = aStore();
  const handled: unknown[] = [];
  const arrive = () => handleOnce({ store, event, handle: (one) => handled.push(one) });

  assert.equal(await arrive(), "handled");
  clock.now = 30 * DAY - 1;
  assert.equal(await arrive(), "duplicate");
  assert.deepEqual(handled, [event]);
  assert.equal(await handleOnce({ store, event: { id: "evt_2" }, handle: () => 0 }), "handled");
});

test("of two simultaneous copies, one is handled and the other postponed", async () => {
  const { store } = aStore();
  const { promise, resolve } = withResolvers();
  const first = handleOnce({ store, event, handle: () => promise });
  assert.equal(await handleOnce({ store, event, handle: mustNot }), "under_way");
  resolve();
  assert.equal(await first, "handled");
  assert.equal(await handleOnce({ store, event, handle: mustNot }), "duplicate");
});

test("an event whose handler threw is handled at the next delivery", async () => {
  const { store } = aStore();
  const failing = handleOnce({ store, event, handle: () => Promise.reject(new Error("no stock")) });
  await assert.rejects(failing, /no stock/);
  assert.equal(await handleOnce({ store, event, handle: () => 0 }), "handled");
});

test("an event whose handler crashed is handled again after underWayMs, not before", async () => {
  const { store, clock } = aStore();
  void handleOnce({ store, event, handle: () => withResolvers().promise });
  clock.now = 59_999;
  assert.equal(await handleOnce({ store, event, handle: mustNot }), "under_way");
  clock.now = 60_000;
  assert.equal(await handleOnce({ store, event, handle: () => 0 }), "handled");
});

test("a handler that fails after its time does not overwrite another's success", async () => {
  const store = createMemoryStore();
  const { promise, resolve } = withResolvers();
  const fail = () => Promise.reject(new Error("too late"));
  const late = handleOnce({ store, event, handle: () => promise.then(fail), underWayMs: 1 });
  await sleep(5);
  assert.equal(await handleOnce({ store, event, handle: () => 0 }), "handled");
  resolve();
  await assert.rejects(late, /too late/);
  assert.equal(await handleOnce({ store, event, handle: mustNot }), "duplicate");
});

test("the handler's error is thrown even if the store is unreachable too", async () => {
  const { store } = aStore();
  const away: EventStore = { ...store, delete: () => Promise.reject(new Error("store away")) };
  const failing = handleOnce({
    store: away,
    event,
    handle: () => Promise.reject(new Error("mine")),
  });
  await assert.rejects(failing, /mine/);
});

test("an event is not handled until the store has recorded it", async () => {
  const { store, clock } = aStore();
  const away: EventStore = { ...store, set: () => Promise.reject(new Error("store away")) };
  await assert.rejects(handleOnce({ store: away, event, handle: () => 0 }), /store away/);
  clock.now = 60_000;
  assert.equal(await handleOnce({ store, event, handle: () => 0 }), "handled");
});

test("a full memory store forgets the oldest event", async () => {
  const store = createMemoryStore({ maxEvents: 2 });
  for (const id of ["evt_1", "evt_2", "evt_3"]) {
    await handleOnce({ store, event: { id }, handle: () => 0 });
  }
  assert.equal(await handleOnce({ store, event: { id: "evt_3" }, handle: () => 0 }), "duplicate");
  assert.equal(await handleOnce({ store, event: { id: "evt_2" }, handle: () => 0 }), "duplicate");
  assert.equal(await handleOnce({ store, event: { id: "evt_1" }, handle: () => 0 }), "handled");
});

function withResolvers() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

function mustNot(): never {
  assert.fail("handled a second time");
}
