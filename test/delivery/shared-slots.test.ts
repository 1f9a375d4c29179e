import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/delivery/due.ts";
import { type Attempt, Slots } from "../../src/delivery/slots.ts";

/** `a1` is a subscription of the organization `a`. */
function of(id: string): Attempt {
  return { subscription_id: id, organization_id: id.charAt(0), url: `https://${id}.test/` };
}

async function queueOf(...ids: string[]): Promise<Due> {
  const due = new Due({ listDue: () => assert.fail("no scan"), pollIntervalMs: 0 });
  for (const id of ids) {
    due.add([of(id)]);
    await new Promise((resolve) => setImmediate(resolve)); // So that the next one has waited for less.
  }
  return due;
}

const idsOf = ({ shares }: ReturnType<Slots["share"]>) =>
  shares.map(({ subscription_id }) => subscription_id);

/** Two dispatchers that both wait, because all slots are taken. Then one slot is free. */
function oneSlotForTwo(first: Due, second: Due) {
  const slots = new Slots(1, 1);
  const release = slots.reserve(1);
  assert.deepEqual(idsOf(slots.shareWithOthers(second)), []);
  assert.deepEqual(idsOf(slots.shareWithOthers(first)), []);
  release();
  return slots;
}

test("of two shards that wait for a slot, the organization that has waited longest gets it, even if the other asks first", async () => {
  const longest = await queueOf("a1");
  const later = await queueOf("b1", "c1");
  const slots = oneSlotForTwo(longest, later);
  assert.deepEqual(idsOf(slots.shareWithOthers(later)), []);
  assert.deepEqual(idsOf(slots.shareWithOthers(longest)), ["a1"]);
});

test("a shard that cannot claim keeps no slot from the others", async () => {
  const away = await queueOf("a1");
  const well = await queueOf("b1");
  const slots = oneSlotForTwo(away, well);
  slots.leave(away);
  assert.deepEqual(idsOf(slots.shareWithOthers(well)), ["b1"]);
});

test("an organization's share counts its slots for all shards' sakes: many organizations of one shard leave room for another's", async () => {
  const slots = new Slots(20, 20);
  const many = await queueOf("a1", "b1", "c1", "d1");
  for (const { subscription_id, share } of slots.shareWithOthers(many).shares) {
    for (let i = 0; i < share; i++) slots.take(of(subscription_id));
  }
  const { shares, limit } = slots.shareWithOthers(await queueOf("e1"));
  assert.deepEqual([shares[0]?.subscription_id, limit > 0], ["e1", true]);
});

test("slots that are freed are told to the dispatchers of other shards alone", () => {
  const slots = new Slots(1, 1);
  const told: string[] = [];
  const [one, other] = ["one", "other"].map((name) => ({ noteFree: () => told.push(name) }));
  if (one && other) {
    slots.join(one);
    slots.join(other);
    slots.tellOthers(one);
  }
  assert.deepEqual(told, ["other"]);
});

test("a dispatcher that was closed is not told of free slots any more", () => {
  const slots = new Slots(1, 1);
  const told: string[] = [];
  const [one, other, closed] = ["one", "other", "closed"].map((name) => ({
    noteFree: () => void told.push(name),
  }));
  assert.ok(one && other && closed);
  for (const sharer of [one, other, closed]) slots.join(sharer);
  slots.part(closed);
  slots.tellOthers(one);
  assert.deepEqual(told, ["other"]);
});
