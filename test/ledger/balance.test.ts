import assert from "node:assert/strict";
import { test } from "node:test";
import { balance, type Evidence, faultsOf, hitsOf } from "./balance.ts";
import type { AttemptEntry, DeliveryEntry } from "./books.ts";
import { RECORDING_MS } from "./duplicates.ts";
import type { Answer, Arrival } from "./journal.ts";
import { ATTEMPT_TIMEOUT_MS, ATTEMPTS_MAX, LEASE_MS } from "./plan.ts";
import type { Harm } from "./services.ts";
import type { Unrecorded } from "./unrecorded.ts";

const EVENT = "019bd1f1-0a00-7000-9b1c-5d6e7f809a1b";
const PUBLIC = `evt_${EVENT}`;
const SUBSCRIPTION = "6f1b9c1e-0000-4000-8000-000000000001";

const delivery = (state: string, attempts: number): DeliveryEntry => ({
  id: "d",
  event: EVENT,
  subscription: SUBSCRIPTION,
  state,
  attempts,
});

/** The first attempt starts at 1 s, the second at 2 s, and so on. Each takes 100 ms. */
const attempt = (number: number, httpStatus: number): AttemptEntry => ({
  delivery: "d",
  attempt: number,
  httpStatus,
  reason: httpStatus === 200 ? null : httpStatus === 0 ? "timeout" : `http_${httpStatus}`,
  deadLettered: number === ATTEMPTS_MAX && httpStatus !== 200,
  from: number * 1000,
  until: number * 1000 + 100,
});

const arrival = (sentAt: number, answer: Answer): Arrival => ({
  event: PUBLIC,
  subscription: `wh_${SUBSCRIPTION}`,
  slot: "a",
  sentAt,
  at: sentAt,
  answer,
});

const away = (from: number, until: number): Harm => ({ kind: "database", slot: null, from, until });

const kill = (slot: "a" | "b", at: number): Harm => ({ kind: "kill", slot, from: at, until: at });

const pause = (slot: "a" | "b", from: number): Harm => {
  return { kind: "pause", slot, from, until: from + LEASE_MS + 500 };
};

/** A line of the log: the service has not recorded the attempt that began then. */
const unrecorded = (from: number, changes: Partial<Unrecorded> = {}): Unrecorded => ({
  ...{ slot: "a", event: PUBLIC, from, until: from + 100 },
  ...{ leasedUntil: 900, at: 800, why: "ignored", ...changes },
});

/** Evidence of one event that was accepted and delivered at its second attempt, with changes. */
function evidence({ books, ...changes }: Partial<Omit<Evidence, "books">> & { books?: object }) {
  return {
    accepted: [{ event: PUBLIC }],
    arrivals: [arrival(1010, "refuse"), arrival(2010, "accept")],
    harms: [],
    unrecorded: [],
    ...changes,
    books: {
      events: [EVENT],
      deliveries: [delivery("delivered", 2)],
      attempts: [attempt(1, 503), attempt(2, 200)],
      ended: [],
      unwanted: [],
      ...books,
    },
  } satisfies Evidence;
}

const faults = (changes: Parameters<typeof evidence>[0]) => faultsOf(balance(evidence(changes)));

test("a delivered event with a complete audit balances", () => {
  assert.deepEqual(faults({}), []);
});

test("an event without a delivery balances if its subscription was ended", () => {
  assert.deepEqual(
    faults({ arrivals: [], books: { deliveries: [], attempts: [], unwanted: [EVENT] } }),
    [],
  );
});

const losses: [what: string, changes: Parameters<typeof evidence>[0]][] = [
  ["is missing", { books: { events: [], deliveries: [], attempts: [] } }],
  ["has no delivery", { books: { deliveries: [], attempts: [] } }],
  ["still waits", { books: { deliveries: [delivery("waiting", 2)] } }],
  ["no receiver ever accepted", { arrivals: [arrival(1010, "refuse"), arrival(2010, "refuse")] }],
  [
    "was dead-lettered with attempts left",
    { books: { deliveries: [delivery("dead_lettered", 2)] } },
  ],
  [
    "was cancelled though its subscription is active",
    { books: { deliveries: [delivery("cancelled", 2)] } },
  ],
];
for (const [what, changes] of losses) {
  test(`an accepted event that ${what} is lost`, () => {
    assert.equal(balance(evidence(changes)).lost.length, 1);
  });
}

const flaws: [what: string, changes: Parameters<typeof evidence>[0]][] = [
  [
    "an audit without an attempt",
    { books: { attempts: [attempt(2, 200)] }, harms: [kill("a", 1020)] },
  ],
  ["a response in the audit that no receiver sent", { arrivals: [arrival(2010, "accept")] }],
  [
    "an unanswered event without its delivery",
    { accepted: [], books: { deliveries: [], attempts: [] } },
  ],
  ["a delivery without its event", { books: { events: [] } }],
  [
    "two deliveries of one event",
    { books: { deliveries: [delivery("delivered", 2), delivery("waiting", 0)] } },
  ],
];
for (const [what, changes] of flaws) {
  test(`${what} is a flaw`, () => {
    assert.notEqual(balance(evidence(changes)).flaws.length, 0);
  });
}

test("a completely stored event without a response is counted and is not a fault", () => {
  const found = balance(evidence({ accepted: [] }));
  assert.equal(found.unanswered, 1);
  assert.deepEqual(faultsOf(found), []);
});

/** A first attempt that is not in the audit. */
const arrivals = [arrival(500, "accept"), arrival(1010, "refuse"), arrival(2010, "accept")];

test("a duplicate is explained only by a kill of the process that made the attempt", () => {
  const explained = balance(evidence({ arrivals, harms: [kill("a", 550)] }));
  assert.deepEqual(faultsOf(explained), []);
  assert.equal(explained.duplicates.length, 1);
  assert.equal(hitsOf(explained, "kill"), 1);

  const innocent = [[], [kill("b", 550)], [kill("a", 450)]];
  for (const harms of innocent) assert.equal(faults({ arrivals, harms }).length, 1);
});

test("a kill or a pause explains an attempt only within the attempt timeout and the time to record it", () => {
  const latest = 500 + ATTEMPT_TIMEOUT_MS + RECORDING_MS;
  for (const [harm, lines] of [[kill, []] as const, [pause, [unrecorded(500)]] as const]) {
    assert.deepEqual(faults({ arrivals, unrecorded: lines, harms: [harm("a", latest)] }), []);
    assert.equal(faults({ arrivals, unrecorded: lines, harms: [harm("a", latest + 1)] }).length, 1);
  }
});

test("a kill explains an attempt up to a lease later if PostgreSQL was down in between", () => {
  const latest = 500 + LEASE_MS;
  const between = away(501 + ATTEMPT_TIMEOUT_MS, 3_000);
  assert.deepEqual(faults({ arrivals, harms: [between, kill("a", latest)] }), []);
  assert.equal(faults({ arrivals, harms: [between, kill("a", latest + 1)] }).length, 1);

  const notBetween = [away(400, 499), away(latest + 1, latest + 1_000)];
  for (const harm of notBetween) {
    assert.equal(faults({ arrivals, harms: [harm, kill("a", latest)] }).length, 1);
  }
});

test("an outage of PostgreSQL explains only the attempts in progress at its start", () => {
  const known = { arrivals, unrecorded: [unrecorded(500)] };
  const explaining = [away(400, 600), away(500 + ATTEMPT_TIMEOUT_MS, 3_000)];
  for (const harm of explaining) assert.deepEqual(faults({ ...known, harms: [harm] }), []);
  const innocent = [away(400, 499), away(501 + ATTEMPT_TIMEOUT_MS, 3_000)];
  for (const harm of innocent) assert.equal(faults({ ...known, harms: [harm] }).length, 1);
});

test("neither an outage nor a pause explains an attempt whose process does not say that it recorded nothing", () => {
  for (const harm of [away(400, 600), pause("a", 550)]) {
    const about = (...lines: Unrecorded[]) =>
      faults({ arrivals, harms: [harm], unrecorded: lines }).length;
    assert.equal(about(unrecorded(490)), 0);
    assert.equal(about(), 1);
    assert.equal(about(unrecorded(490, { slot: "b" })), 1);
    assert.equal(about(unrecorded(1010), unrecorded(490, { event: "evt_another" })), 1);
  }
});

test("what nothing explains is told with the lines of the log about it", () => {
  const [fault = ""] = faults({ arrivals, unrecorded: [unrecorded(500, { at: 899 })] });
  assert.match(fault, /nothing explains .*"log":\[\{"slot":"a",.*"at":899,"why":"ignored"\}\]/);
});

test("a lost outcome has the cause that its lease tells", () => {
  const howOf = (line: Unrecorded, harm: Harm) => {
    const found = balance(evidence({ arrivals, harms: [harm], unrecorded: [line] }));
    return found.duplicates.map(({ because }) => because?.how);
  };
  const outage = away(400, 600);
  assert.deepEqual(howOf(unrecorded(500, { leasedUntil: 1_000 }), outage), ["lease ended"]);
  assert.deepEqual(howOf(unrecorded(500, { leasedUntil: 6_500 }), outage), ["claim lost"]);
  assert.deepEqual(howOf(unrecorded(500, { why: "abandoned" }), outage), ["abandoned"]);
  const twoClaims = unrecorded(500, { leasedUntil: 6_500 });
  assert.deepEqual(howOf(twoClaims, pause("a", 550)), [undefined], "a lease that still held");
});

test("without any harm, an outcome is explained only if its own process noticed it after the lease", () => {
  const of = (line: Unrecorded) => faults({ arrivals, unrecorded: [line] }).length;
  assert.equal(of(unrecorded(500, { at: 900 })), 0);
  assert.equal(of(unrecorded(500, { at: 899 })), 1);
  assert.equal(of(unrecorded(500, { at: 900, slot: "b" })), 1);
  assert.equal(of(unrecorded(500, { at: 900, why: "abandoned" })), 1);
});

test("a request that arrives twice within one attempt after a reset is a repeat, not a duplicate", () => {
  const arrivals = [arrival(1010, "refuse"), arrival(2010, "reset"), arrival(2010, "accept")];
  const found = balance(evidence({ arrivals }));
  assert.deepEqual([found.repeats, found.duplicates.length, faultsOf(found).length], [1, 0, 0]);
});
