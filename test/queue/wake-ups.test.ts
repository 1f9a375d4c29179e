import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "../../src/queue/slots.ts";
import { aDispatcher } from "../support/dispatcher.ts";
import { dueOf } from "../support/due.ts";

/** Slots that count how often the dispatcher looks through what is due. */
class CountingSlots extends Slots {
  #looks = 0;

  override allot(queue: Parameters<Slots["allot"]>[0]) {
    this.#looks++;
    return super.allot(queue);
  }

  /** Fails if a dispatcher looks through what is due after the attempt has ended. */
  async ignores(end: () => void): Promise<void> {
    await settle();
    const looks = this.#looks;
    end();
    await settle();
    assert.equal(this.#looks, looks);
  }
}

const PATIENCE = { timeout: 10_000 };

async function settle(): Promise<void> {
  for (let iteration = 0; iteration < 20; iteration++) await new Promise(setImmediate);
}

test(
  "while many slots are free, the end of an attempt is of use only to its own subscription",
  PATIENCE,
  async (t) => {
    const slots = new CountingSlots(1_000, 2);
    const d = aDispatcher(t, { silent: 3, healthy: 1 }, { concurrency: 1_000, slots });
    d.dispatcher.start();
    await d.reaches(3);
    await slots.ignores(() => d.endOne("healthy"));
    d.endOne("silent");
    await d.reaches(2);
  },
);

test("while few slots are free, the end of any attempt lets another begin", PATIENCE, async (t) => {
  const queue = { first: 1, second: 2, third: 2 };
  const d = aDispatcher(t, queue, { concurrency: 4, subscriptionConcurrency: 2 });
  d.dispatcher.start();
  await d.reaches(4);
  await settle();
  d.endOne("first");
  await d.reaches(4);
});

/** A failing host with 200 subscriptions, of which each has something due. Its attempts without an answer used `unansweredMs` of slots. */
function aFailingHost(unansweredMs: number, slots = new Slots(1_000, 10)) {
  const names = Array.from({ length: 200 }, (_, i) => `s${i}`);
  const places = dueOf(...names).map((due) => ({ ...due, url: "https://shared/" }));
  const nowMs = performance.now();
  for (const place of places) slots.hasRoomFor(place);
  for (const place of places.slice(0, 1))
    slots.note(place, "unanswered", nowMs - unansweredMs, nowMs);
  const queue = Object.fromEntries(names.map((name) => [name, 1]));
  return { queue, settings: { concurrency: 1_000, slots, host: "shared" } };
}
const AN_EIGHTH = 125;

test(
  "when a host answers again, the subscriptions at it need not wait for the next poll",
  PATIENCE,
  async (t) => {
    const { queue, settings } = aFailingHost(1);
    const d = aDispatcher(t, queue, settings);
    d.dispatcher.start();
    await d.reaches(AN_EIGHTH);
    await settle();
    assert.equal(d.inFlight.length, AN_EIGHTH);
    d.endOne(d.inFlight[0]?.subscription ?? "");
    await d.reaches(199);
  },
);

test(
  "while a host that does not answer has less than its share, the end of an attempt there is of use only to its own subscription",
  PATIENCE,
  async (t) => {
    const slots = new CountingSlots(1_000, 2);
    const { settings } = aFailingHost(10_000, slots);
    const d = aDispatcher(t, { s1: 3, s2: 1 }, settings);
    d.dispatcher.start();
    await d.reaches(3);
    await slots.ignores(() => d.endOne("s2"));
  },
);

test(
  "the end of an attempt at a host that does not answer lets another begin there",
  PATIENCE,
  async (t) => {
    const { queue, settings } = aFailingHost(10_000);
    const timedOut = { signal: "unanswered", unansweredMs: 0, random: () => 0 } as const;
    const d = aDispatcher(t, queue, { ...settings, ...timedOut });
    d.dispatcher.start();
    await d.reaches(AN_EIGHTH);
    await settle();
    d.endOne(d.inFlight[0]?.subscription ?? "");
    await d.reaches(AN_EIGHTH);
  },
);

test("the end of a reservation lets others begin while slots are few", PATIENCE, async (t) => {
  const d = aDispatcher(t, { waiting: 10 });
  d.dispatcher.start();
  const { slots, end } = d.dispatcher.reserve(new Set(["publishing"]));
  assert.equal(slots, 5);
  await d.reaches(4);
  await settle();
  assert.equal(d.inFlight.length, 4);
  end([]);
  await d.reaches(9);
});

test(
  "a recorded outcome lets others begin if too many waited to be recorded",
  PATIENCE,
  async (t) => {
    let record: () => void = () => undefined;
    const recorded = new Promise<void>((resolve) => (record = resolve));
    const d = aDispatcher(t, { waiting: 5 }, { concurrency: 2, recorded });
    d.dispatcher.start();
    for (let ended = 0; ended < 4; ended++) {
      await d.reaches(1);
      d.endOne("waiting");
    }
    await settle();
    assert.equal(d.inFlight.length, 0);
    record();
    await d.reaches(1);
  },
);
