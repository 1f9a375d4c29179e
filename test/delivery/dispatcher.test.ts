import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Claim } from "../../src/actions/claim.ts";
import { Dispatcher, type Holders } from "../../src/delivery/dispatcher.ts";
import type { Signal } from "../../src/domain/concurrency-limit.ts";
import { dueOf } from "../support/due.ts";

interface Settings {
  concurrency?: number;
  subscriptionConcurrency?: number;
  pollIntervalMs?: number;
  /** A subscription that is not active any more: what is taken of it is cancelled. */
  inactive?: string;
  /** What looks come to, in place of what is in the queue. */
  look?: () => Promise<string[]>;
  /** Resolves when what came of an attempt is durable; default: at once. */
  recorded?: Promise<void>;
  /** Where all subscriptions are. Default: each at a host of its own. */
  host?: string;
  signal?: Signal;
  onContended?: (holders: Holders) => void;
  onError?: (error: unknown) => void;
}

/** A queue in memory, and attempts that end when the test says so. */
function aDispatcher(
  t: TestContext,
  queue: Record<string, number>,
  {
    concurrency = 10,
    subscriptionConcurrency = 10,
    pollIntervalMs = 3_600_000,
    ...but
  }: Settings = {},
) {
  const waiting = new Map(Object.entries(queue));
  const whatIsDue = ({ after, limit }: { after: string | null; limit: number }) => {
    const due = [...waiting].filter(([id, n]) => n > 0 && id > (after ?? "")).map(([id]) => id);
    const page = due.slice(0, limit);
    return { due: dueOf(...page), upTo: due.length > limit ? (page.at(-1) ?? null) : null };
  };
  const underWay: { subscription: string; end: () => void }[] = [];
  const deferred: string[] = [];
  let begun: () => void = () => undefined;

  const dispatcher = new Dispatcher({
    listDue: async (page) =>
      but.look ? { due: dueOf(...(await but.look())), upTo: null } : whatIsDue(page),
    claim: ({ shares, limit }) => {
      let left = limit;
      const subscriptionIds = shares.flatMap(({ subscription_id, share }) => {
        const taken = Math.min(share, left, waiting.get(subscription_id) ?? 0);
        left -= taken;
        waiting.set(subscription_id, (waiting.get(subscription_id) ?? 0) - taken);
        return Array.from({ length: taken }, () => subscription_id);
      });
      const claims = subscriptionIds
        .filter((id) => id !== but.inactive)
        .map((id) => ({ ...dueOf(id)[0], url: `https://${but.host ?? id}/` }) as Claim);
      return Promise.resolve({ claims, subscriptionIds });
    },
    deliver: async ({ subscription_id: subscription }) => {
      await new Promise<void>((end) => {
        underWay.push({ subscription, end });
        begun();
      });
      return { signal: but.signal ?? "answered", recorded: but.recorded ?? Promise.resolve() };
    },
    defer: ({ subscription_id }) => {
      deferred.push(subscription_id);
      return Promise.resolve();
    },
    onContended: but.onContended ?? (() => undefined),
    concurrency,
    subscriptionConcurrency,
    pollIntervalMs,
    onError:
      but.onError ??
      ((error) => {
        throw error;
      }),
  });
  t.after(async () => {
    const stopped = dispatcher.stop();
    while (underWay.length > 0) underWay.pop()?.end();
    await stopped;
  });

  return {
    dispatcher,
    underWay,
    deferred,
    add: (id: string, count: number) => waiting.set(id, (waiting.get(id) ?? 0) + count),
    /** Resolves once `count` attempts are under way. */
    reaches: async (count: number) => {
      while (underWay.length < count) await new Promise<void>((resolve) => (begun = resolve));
    },
    endOne: (subscription: string) => {
      const index = underWay.findIndex((a) => a.subscription === subscription);
      underWay.splice(index, 1)[0]?.end();
    },
  };
}

test("a receiver that hangs holds its own share of the hands, and the others go on", async (t) => {
  const d = aDispatcher(
    t,
    { hanging: 1000, healthy: 5 },
    { concurrency: 8, subscriptionConcurrency: 3 },
  );
  d.dispatcher.start();
  await d.reaches(6);
  assert.equal(d.underWay.filter((a) => a.subscription === "hanging").length, 3);

  d.endOne("healthy");
  d.endOne("healthy");
  await d.reaches(6);
  assert.equal(d.underWay.filter((a) => a.subscription === "hanging").length, 3);
  assert.equal(d.underWay.filter((a) => a.subscription === "healthy").length, 3);
});

test(
  "a subscription behind one whose deliveries are cancelled does not wait for the next look",
  { timeout: 10_000 },
  async (t) => {
    const d = aDispatcher(t, { gone: 1000, healthy: 4 }, { inactive: "gone" });
    d.dispatcher.start();
    await d.reaches(4);
    assert.ok(d.underWay.every((a) => a.subscription === "healthy"));
  },
);

test("never more attempts under way than hands", async (t) => {
  const d = aDispatcher(t, { a: 50, b: 50, c: 50 }, { concurrency: 7 });
  d.dispatcher.start();
  await d.reaches(7);
  for (let i = 0; i < 20; i++) {
    d.endOne(d.underWay[0]?.subscription ?? "");
    await d.reaches(7);
    assert.equal(d.dispatcher.underWay, 7);
  }
});

test("a nudge starts what was accepted just now, long before the next poll", async (t) => {
  const d = aDispatcher(t, {});
  d.dispatcher.start();
  d.add("new", 1);
  d.dispatcher.nudge(dueOf("new"));
  await d.reaches(1);
});

test("without any nudge the poll finds it", async (t) => {
  const d = aDispatcher(t, {}, { pollIntervalMs: 5 });
  d.dispatcher.start();
  d.add("elsewhere", 1);
  await d.reaches(1);
});

test("more subscriptions than one look brings to mind are all served, without waiting for a poll", async (t) => {
  const many = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`s${i + 1000}`, 1]));
  const d = aDispatcher(t, many, { concurrency: 4000 });
  d.dispatcher.start();
  await d.reaches(2500);
});

test("subscriptions with little due each fill all hands, and none is forgotten", async (t) => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`s${i + 1000}`, 3]));
  const d = aDispatcher(t, many, { concurrency: 1000 });
  d.dispatcher.start();
  await d.reaches(900);
});

test("a claim that finds nothing is followed by the next: others are in mind", async (t) => {
  const d = aDispatcher(t, {});
  d.dispatcher.start();
  await new Promise(setImmediate); // It has looked, and found nothing.
  d.add("behind", 1);
  d.dispatcher.nudge(
    dueOf(...Array.from({ length: 100 }, (_, i) => `taken elsewhere ${i}`), "behind"),
  );
  await d.reaches(1);
});

test("stopping claims nothing more and waits for what is under way", async (t) => {
  const d = aDispatcher(t, { a: 3 }, { concurrency: 1 });
  d.dispatcher.start();
  await d.reaches(1);
  let stopped = false;
  const stop = d.dispatcher.stop().then(() => (stopped = true));
  await new Promise(setImmediate);
  assert.equal(stopped, false);
  d.endOne("a");
  await stop;
  assert.equal(d.underWay.length, 0);
});

test("while outcomes wait to be recorded, nothing more is claimed, though hands are free", async (t) => {
  let record: () => void = () => undefined;
  const recorded = new Promise<void>((resolve) => (record = resolve));
  t.after(() => record());
  const d = aDispatcher(t, { a: 10 }, { concurrency: 2, recorded });
  d.dispatcher.start();
  for (let round = 0; round < 2; round++) {
    await d.reaches(2);
    d.endOne("a");
    d.endOne("a");
  }
  await new Promise(setImmediate);
  assert.deepEqual(d.underWay, [], "four outcomes of two hands are not recorded yet");
  record();
  await d.reaches(2);
});

test("no more subscriptions are kept in mind than a process has room for, and none is lost for that", async (t) => {
  const ids = Array.from({ length: 12_000 }, (_, i) => `s${String(i).padStart(5, "0")}`);
  const { dispatcher, underWay, add, reaches } = aDispatcher(
    t,
    {},
    { concurrency: 20_000, pollIntervalMs: 1_000 },
  );
  dispatcher.start();
  await new Promise(setImmediate); // It has looked, and found nothing.
  for (const id of ids) add(id, 1);
  dispatcher.nudge(dueOf(...ids));
  await reaches(10_000);
  assert.equal(underWay.length, 10_000);
  await reaches(12_000);
});

test("what is in mind is claimed while a look takes its time, and what the look finds comes after", async (t) => {
  let answer: (ids: string[]) => void = () => undefined;
  const looking = new Promise<string[]>((resolve) => (answer = resolve));
  const d = aDispatcher(t, { found: 1 }, { look: () => looking });
  d.dispatcher.start();
  d.add("nudged", 1);
  d.dispatcher.nudge(dueOf("nudged"));
  await d.reaches(1);
  answer(["found"]);
  await d.reaches(2);
});

test("a look that fails keeps nothing in mind from being claimed", async (t) => {
  const failures: unknown[] = [];
  const away = new Error("it took too long");
  const d = aDispatcher(
    t,
    { nudged: 1 },
    { look: () => Promise.reject(away), onError: (error) => failures.push(error) },
  );
  d.dispatcher.nudge(dueOf("nudged"));
  d.dispatcher.start();
  await d.reaches(1);
  assert.deepEqual(failures, [away]);
});

test("a receiver that did not answer gets one attempt at a time", async (t) => {
  const d = aDispatcher(t, { silent: 100 }, { concurrency: 100, signal: "unanswered" });
  d.dispatcher.start();
  await d.reaches(10);
  for (let n = 0; n < 10; n++) d.endOne("silent");
  await d.reaches(1);
  for (let n = 0; n < 5; n++) await new Promise(setImmediate);
  assert.equal(d.underWay.length, 1);
});

test("attempts at a host that does not answer are put off beyond the room of one organization", async (t) => {
  const names = Array.from({ length: 30 }, (_, i) => `s${i}`);
  const queue = Object.fromEntries(names.map((name) => [name, 0]));
  const d = aDispatcher(t, queue, { concurrency: 20, host: "dead", signal: "unanswered" });
  d.dispatcher.start();
  d.add("first", 1);
  d.dispatcher.nudge(dueOf("first"));
  await d.reaches(1);
  d.endOne("first");
  await new Promise(setImmediate);

  for (const name of names) d.add(name, 1);
  d.dispatcher.nudge(dueOf(...names));
  await d.reaches(1);
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  assert.ok(d.underWay.length <= 18, `${d.underWay.length} of 20 slots`);
  assert.ok(d.deferred.length > 0, "the host of a new subscription is known after its claim");
});

test("while only the reserve is free, the holders are told", { timeout: 10_000 }, async (t) => {
  let told: Holders | undefined;
  const onContended = (holders: Holders) => (told ??= holders);
  const d = aDispatcher(t, { greedy: 100 }, { concurrency: 10, onContended });
  d.dispatcher.start();
  await d.reaches(9);
  while (told === undefined && !t.signal.aborted) await new Promise(setImmediate);
  assert.deepEqual(told, { organizations: [["owner of greedy", 9]], failingHosts: [] });
});
