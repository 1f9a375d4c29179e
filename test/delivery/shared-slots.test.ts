import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/delivery/due.ts";
import { type Place, Slots } from "../../src/delivery/slots.ts";

/** `a1` is a subscription of the organization `a`. */
function of(id: string): Place {
  return { subscriptionId: id, organizationId: id.charAt(0), url: `https://${id}.test/` };
}

async function queueOf(...ids: string[]): Promise<Due> {
  const due = new Due({ listDue: () => assert.fail("no scan"), pollIntervalMs: 0 });
  for (const id of ids) {
    due.add([of(id)]);
    await new Promise((resolve) => setImmediate(resolve)); // Gives the next one a shorter wait.
  }
  return due;
}

const idsOf = ({ shares }: ReturnType<Slots["share"]>) =>
  shares.map(({ subscriptionId }) => subscriptionId);

/** Two dispatchers wait, because all slots are taken. Then one slot becomes free. */
function oneSlotForTwo(first: Due, second: Due) {
  const slots = new Slots(1, 1);
  const release = slots.reserve(1);
  assert.deepEqual(idsOf(slots.turns.take(second)), []);
  assert.deepEqual(idsOf(slots.turns.take(first)), []);
  release();
  return slots;
}

test("if two shards wait for a slot, the organization that has waited longest gets it, even if the other asks first", async () => {
  const longest = await queueOf("a1");
  const later = await queueOf("b1", "c1");
  const slots = oneSlotForTwo(longest, later);
  assert.deepEqual(idsOf(slots.turns.take(later)), []);
  assert.deepEqual(idsOf(slots.turns.take(longest)), ["a1"]);
});

test("a shard that cannot claim leaves its slots to the others", async () => {
  const away = await queueOf("a1");
  const well = await queueOf("b1");
  const slots = oneSlotForTwo(away, well);
  slots.turns.leave(away);
  assert.deepEqual(idsOf(slots.turns.take(well)), ["b1"]);
});

test("the organizations of one shard leave room for those of another", async () => {
  const slots = new Slots(20, 20);
  const many = await queueOf("a1", "b1", "c1", "d1");
  for (const { subscriptionId, share } of slots.turns.take(many).shares) {
    for (let i = 0; i < share; i++) slots.take(of(subscriptionId));
  }
  const { shares, limit } = slots.turns.take(await queueOf("e1"));
  assert.deepEqual([shares[0]?.subscriptionId, limit > 0], ["e1", true]);
});

/**
 * Three dispatchers: one without due deliveries, and two that wait, `second` for longer. Returns the one that
 * a free slot wakes.
 */
async function wokenOf(act: (slots: Slots, second: Due) => void = () => undefined) {
  const idle = await queueOf();
  const second = await queueOf("a1");
  const third = await queueOf("b1");
  const slots = new Slots(1, 1);
  const release = slots.reserve(1);
  const woken: string[] = [];
  for (const [name, queue] of Object.entries({ idle, third, second })) {
    queue.wakeUp.set = () => woken.push(name);
    slots.turns.take(queue);
  }
  act(slots, second);
  release();
  slots.turns.tellOthers(idle);
  return woken;
}

test("a free slot wakes only the dispatcher whose turn it is", async () => {
  assert.deepEqual(await wokenOf(), ["second"]);
});

test("a dispatcher that no longer waits is not woken, and the next one is", async () => {
  assert.deepEqual(await wokenOf((slots, second) => slots.turns.leave(second)), ["third"]);
});

test("a dispatcher that frees a slot wakes itself", async () => {
  const own = await queueOf("a1");
  const slots = new Slots(1, 1);
  const release = slots.reserve(1);
  own.wakeUp.set = () => assert.fail("it was woken");
  slots.turns.take(own);
  slots.turns.take(await queueOf("b1"));
  release();
  slots.turns.tellOthers(own);
});

test("a dispatcher without due deliveries keeps scanning while others wait for slots", async () => {
  const slots = new Slots(2, 2);
  const release = slots.reserve(2);
  slots.turns.take(await queueOf("a1"));
  release();
  assert.ok(slots.turns.take(await queueOf()).limit > 0);
});
