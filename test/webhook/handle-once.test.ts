import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { handleOnce, type EventStore } from "../../src/webhook/handle-once.ts";
import { createMemoryStore } from "../../src/webhook/memory-store.ts";

const event = { id: "evt_1" };
const DAY = 24 * 3_600_000;

/** A store whose clock stands still until it is moved. */
function aStore() {
  const clock = { now: 0 };
  return { clock, store: createMemoryStore({ now: () => clock.now }) };
}

test("an event is handled once, however often it arrives", async () => {
  const { store, clock } = aStore();
  const handled: unknown[] = [];
  const arrive = () => handleOnce({ store, event, handle: (one) => handled.push(one) });

  assert.equal(await arrive(), "handled");
  clock.now = 30 * DAY - 1;
  assert.equal(await arrive(), "duplicate");
  assert.deepEqual(handled, [event]);
  assert.equal(await handleOnce({ store, event: { id: "evt_2" }, handle: () => 0 }), "handled");
});

test("of two copies that arrive at once, one is handled and the other is put off", async () => {
  const { store } = aStore();
  const { promise, resolve } = withResolvers();
  const first = handleOnce({ store, event, handle: () => promise });
  assert.equal(await handleOnce({ store, event, handle: mustNot }), "under_way");
  resolve();
  assert.equal(await first, "handled");
  assert.equal(await handleOnce({ store, event, handle: mustNot }), "duplicate");
});

test("an event whose handling failed is handled when it comes again", async () => {
  const { store } = aStore();
  const failing = handleOnce({ store, event, handle: () => Promise.reject(new Error("no stock")) });
  await assert.rejects(failing, /no stock/);
  assert.equal(await handleOnce({ store, event, handle: () => 0 }), "handled");
});

test("an event whose handler died is handled after its time under way, and not before", async () => {
  const { store, clock } = aStore();
  void handleOnce({ store, event, handle: () => withResolvers().promise });
  clock.now = 59_999;
  assert.equal(await handleOnce({ store, event, handle: mustNot }), "under_way");
  clock.now = 60_000;
  assert.equal(await handleOnce({ store, event, handle: () => 0 }), "handled");
});

test("a handler that fails after its time leaves alone what another has done meanwhile", async () => {
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

test("what the handler throws is what the caller hears, even if the store is away as well", async () => {
  const { store } = aStore();
  const away: EventStore = { ...store, delete: () => Promise.reject(new Error("store away")) };
  const failing = handleOnce({
    store: away,
    event,
    handle: () => Promise.reject(new Error("mine")),
  });
  await assert.rejects(failing, /mine/);
});

test("an event does not count as handled while the store cannot note it", async () => {
  const { store, clock } = aStore();
  const away: EventStore = { ...store, set: () => Promise.reject(new Error("store away")) };
  await assert.rejects(handleOnce({ store: away, event, handle: () => 0 }), /store away/);
  clock.now = 60_000;
  assert.equal(await handleOnce({ store, event, handle: () => 0 }), "handled");
});

test("the store in memory forgets the oldest event once it is full", async () => {
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
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

function mustNot(): never {
  assert.fail("handled a second time");
}
