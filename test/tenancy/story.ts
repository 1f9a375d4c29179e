import fc from "fast-check";

/** A request of a partner. Numbers select one of the existing things, modulo their number. */
export type Ask =
  | { ask: "me" | "list" }
  | { ask: "subscribe"; path: number; key: Key }
  | { ask: "ping"; of: Whose; pick: number; knowsSecret: boolean; key: Key }
  | { ask: "failures"; of: Whose; pick: number; limit: number }
  | { ask: "delete"; of: Whose; pick: number };

/** Both partners choose the same few Idempotency-Keys. */
export type Key = "a" | "b" | null;

/** A partner may also use the other's ids. */
export type Whose = "mine" | "theirs";

/** Simultaneous requests of both partners, followed by the attempts that are due. */
export interface Moment {
  ours: Ask | null;
  others: Ask | null;
  /** True if our receivers refuse and the others' accept, and false for the reverse. Null: no attempts. */
  refuses: boolean | null;
}

const of = fc.constantFrom<Whose>("mine", "mine", "theirs");
const pick = fc.nat({ max: 5 });
const key = fc.constantFrom<Key>("a", "b", null, null);

const ask: fc.Arbitrary<Ask> = fc.oneof(
  fc.record({ ask: fc.constantFrom("me" as const, "list" as const) }),
  fc.record({ ask: fc.constant("subscribe" as const), path: fc.nat({ max: 2 }), key }),
  fc.record({ ask: fc.constant("ping" as const), of, pick, knowsSecret: fc.boolean(), key }),
  fc.record({ ask: fc.constant("ping" as const), of, pick, knowsSecret: fc.constant(true), key }),
  fc.record({
    ask: fc.constant("failures" as const),
    of,
    pick,
    limit: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ ask: fc.constant("delete" as const), of, pick }),
);

const moment: fc.Arbitrary<Moment> = fc.record({
  ours: fc.option(ask, { freq: 3 }),
  others: fc.option(ask, { freq: 5 }),
  refuses: fc.constantFrom(null, true, true, false),
});

export const story = fc.array(moment, { minLength: 20, maxLength: 60 });
