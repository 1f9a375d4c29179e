import fc from "fast-check";
import type { Behaviour } from "./receivers.ts";

/** A request to the service. Numbers select one of the existing things, modulo their number. */
export type Ask =
  | { ask: "claim"; process: number; quota: number; limit: number }
  | { ask: "record"; process: number; count: number; forget: boolean }
  | { ask: "postpone"; process: number }
  /** An event for each dedupe key. Null: one without. Alone, the service begins the transaction itself. */
  | {
      ask: "publish";
      process: number;
      organization: number;
      keys: (number | null)[];
      alone: boolean;
    }
  | { ask: "ping"; process: number; subscription: number; lent: boolean }
  | { ask: "delete"; process: number; subscription: number }
  | { ask: "redeliver"; process: number; delivery: number }
  | { ask: "attemptNow"; process: number; delivery: number }
  | { ask: "hold"; process: number; subscription: number; held: boolean };

export type Step =
  | Ask
  /** Broken off before statement number `at`. */
  | { broken: Ask; at: number }
  | HeldUp
  | { subscribe: number }
  | { receiver: number; does: Behaviour }
  | { wait: number }
  | { answer: number; count: number }
  /** One process claims and finishes its attempts, without recording them. */
  | { attempt: number; quota: number }
  | { crash: number }
  /**
   * Rounds of one process: claim, attempt and record, whenever a delivery is due. Recording is
   * broken off before statement number `at` and then repeated.
   */
  | { rounds: number; process: number; quota: number; at: number };

/**
 * Paused before statement number `at` until the other is done or waits for a lock. Then it
 * continues or dies.
 */
export interface HeldUp {
  held: Ask;
  at: number;
  meanwhile: Ask;
  breaks: boolean;
}

const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  { weight: 5, arbitrary: fc.constant("refuse" as const) },
  { weight: 3, arbitrary: fc.constant("flaky" as const) },
  { weight: 4, arbitrary: fc.constant("acknowledge" as const) },
  { weight: 3, arbitrary: fc.constantFrom("reset", "hang", "slow", "ours") },
);
const process = fc.nat({ max: 2 });
const pick = fc.nat({ max: 30 });
/** Within an attempt, about one lease, or about one delay. */
const wait = fc.oneof(fc.nat(12_000), fc.integer({ min: 15_000, max: 45_000 }), fc.nat(90_000_000));
/** Up to the commit of a full recording: 2 statements, and 8 in its transaction. */
const at = fc.nat({ max: 9 });

const asks = {
  claim: asking("claim", {
    ...{ process, quota: fc.integer({ min: 1, max: 6 }) },
    limit: fc.integer({ min: 1, max: 20 }),
  }),
  record: asking("record", {
    ...{ process, count: fc.integer({ min: 1, max: 12 }), forget: fc.boolean() },
  }),
  postpone: asking("postpone", { process }),
  publish: asking("publish", {
    ...{ process, organization: fc.nat({ max: 1 }), alone: fc.boolean() },
    keys: fc.array(fc.option(fc.nat({ max: 3 }), { freq: 1 }), { minLength: 1, maxLength: 6 }),
  }),
  ping: asking("ping", { process, subscription: pick, lent: fc.boolean() }),
  delete: asking("delete", { process, subscription: pick }),
  redeliver: asking("redeliver", { process, delivery: pick }),
  attemptNow: asking("attemptNow", { process, delivery: pick }),
  hold: asking("hold", { process, subscription: pick, held: fc.boolean() }),
};

const ask: fc.Arbitrary<Ask> = fc.oneof(
  { weight: 3, arbitrary: asks.claim },
  { weight: 6, arbitrary: asks.record },
  { weight: 1, arbitrary: asks.postpone },
  { weight: 4, arbitrary: asks.publish },
  { weight: 3, arbitrary: asks.ping },
  { weight: 1, arbitrary: asks.delete },
  { weight: 2, arbitrary: asks.redeliver },
  { weight: 2, arbitrary: asks.attemptNow },
  { weight: 2, arbitrary: asks.hold },
);

/** Acts that lock rows, and acts that wait for them or skip them. */
const conflict = {
  held: fc.oneof(
    { weight: 6, arbitrary: asks.record },
    { weight: 2, arbitrary: asks.delete },
    { weight: 1, arbitrary: fc.oneof(asks.attemptNow, asks.hold, asks.claim) },
  ),
  meanwhile: fc.oneof(
    { weight: 5, arbitrary: asks.record },
    { weight: 2, arbitrary: asks.claim },
    { weight: 1, arbitrary: fc.oneof(asks.delete, asks.ping, asks.publish) },
    { weight: 1, arbitrary: fc.oneof(asks.attemptNow, asks.hold) },
  ),
};

function asking<Name extends string, Rest extends object>(
  name: Name,
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
) {
  return fc.record({ ask: fc.constant(name), ...rest }) as fc.Arbitrary<{ ask: Name } & Rest>;
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 14, arbitrary: ask },
  { weight: 4, arbitrary: fc.record({ broken: ask, at }) },
  { weight: 3, arbitrary: fc.record({ held: ask, at, meanwhile: ask, breaks: fc.boolean() }) },
  { weight: 10, arbitrary: fc.record({ ...conflict, at, breaks: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ subscribe: fc.nat({ max: 1 }) }) },
  { weight: 7, arbitrary: fc.record({ receiver: pick, does: behaviour }) },
  { weight: 4, arbitrary: fc.record({ wait }) },
  { weight: 4, arbitrary: fc.record({ answer: process, count: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 10, arbitrary: fc.record({ attempt: process, quota: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ crash: process }) },
  {
    weight: 5,
    arbitrary: fc.record({
      ...{ rounds: fc.integer({ min: 1, max: 8 }), process },
      ...{ quota: fc.integer({ min: 1, max: 40 }), at },
    }),
  },
);

export const story: fc.Arbitrary<Story> = fc.record({
  skews: fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -5_000, max: 5_000 }))),
  receivers: fc.tuple(...[0, 1, 2].map(() => behaviour)),
  steps: fc.array(step, { minLength: 1, maxLength: 120, size: "max" }),
});

export interface Story {
  /** The clock skew of each process. */
  skews: number[];
  /** The first behaviour of the receivers. */
  receivers: Behaviour[];
  steps: Step[];
}
