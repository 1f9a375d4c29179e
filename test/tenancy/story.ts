import fc from "fast-check";

/** Something that a partner asks. Numbers pick one of what there is at the time, whatever their size. */
export type Ask =
  | { ask: "me" | "list" }
  | { ask: "subscribe"; path: number }
  | { ask: "ping"; of: Whose; pick: number; knowsSecret: boolean }
  | { ask: "failures"; of: Whose; pick: number; limit: number }
  | { ask: "delete"; of: Whose; pick: number };

/** A partner may try ids that are somebody else's. */
export type Whose = "mine" | "theirs";

/** What both partners do at one moment, and then what becomes of everything that is due. */
export interface Moment {
  ours: Ask | null;
  others: Ask | null;
  /** Whether receivers of ours refuse; the others' then do not. Null: nothing is attempted. */
  refuses: boolean | null;
}

const of = fc.constantFrom<Whose>("mine", "mine", "theirs");
const pick = fc.nat({ max: 5 });

const ask: fc.Arbitrary<Ask> = fc.oneof(
  fc.record({ ask: fc.constantFrom("me" as const, "list" as const) }),
  fc.record({ ask: fc.constant("subscribe" as const), path: fc.nat({ max: 2 }) }),
  fc.record({ ask: fc.constant("ping" as const), of, pick, knowsSecret: fc.boolean() }),
  fc.record({ ask: fc.constant("ping" as const), of, pick, knowsSecret: fc.constant(true) }),
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
