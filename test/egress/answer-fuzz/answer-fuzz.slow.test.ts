// Depends on: src/egress, test/egress/answer-fuzz
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { anAnswer } from "./answers.ts";
import { type Difference, explain } from "./difference.ts";
import { KNOWN_DIFFERENCES } from "./known-differences.ts";
import { cut, mutated } from "./mutations.ts";
import { nodeReading } from "./node-reading.ts";
import { ourReading } from "./our-reading.ts";
import { partsOf } from "./parts.ts";
import type { Reading } from "./reading.ts";

/** `npm run test:long` reads more answers, and different ones at each run. `ANSWER_SEED` repeats a run. */
const { ANSWER_RUNS, ANSWER_SEED } = process.env;
const RUNS = Number(ANSWER_RUNS ?? 5_000);
const SEED = Number(ANSWER_SEED ?? (ANSWER_RUNS === undefined ? 1 : randomInt(2 ** 31)));

/** An older one ends answers at the wrong place, for example behind a 204. */
const LLHTTP_MIN = 9;

test("every answer is read as by Node's client, except for the known differences", async (t) => {
  if (parseInt(process.versions["llhttp"] ?? "") < LLHTTP_MIN) {
    t.skip("Node.js 20.19.2 and later have a parser to compare with");
    return;
  }
  t.diagnostic(`ANSWER_RUNS=${RUNS} ANSWER_SEED=${SEED}`);
  const tally: Record<string, number> = {};
  const count = (what: string) => (tally[what] = (tally[what] ?? 0) + 1);

  const property = fc.asyncProperty(cut(mutated(anAnswer)), async (pieces) => {
    const { ours, nodes, difference } = await readBoth(pieces);
    if (difference === undefined) assert.deepEqual(ours, nodes);
    count(difference?.what ?? kindOf(ours));
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED });

  t.diagnostic(JSON.stringify(tally));
  for (const kind of ["no status", "no end", "closed", "reused"]) {
    assert.ok((tally[kind] ?? 0) > RUNS / 20, `too few answers: ${kind}`);
  }
});

for (const known of KNOWN_DIFFERENCES) {
  test(`we read differently than Node's client: ${known.what}`, async () => {
    const { ours, nodes, difference } = await readBoth([known.example]);
    assert.notDeepEqual(ours, nodes);
    assert.equal(difference, known);
  });
}

async function readBoth(
  texts: string[],
): Promise<{ ours: Reading; nodes: Reading; difference: Difference | undefined }> {
  const pieces = texts.map((text) => Buffer.from(text, "latin1"));
  const [ours, nodes] = await Promise.all([ourReading(pieces), nodeReading(pieces)]);
  const isSame =
    ours.status === nodes.status && ours.end === nodes.end && ours.isReused === nodes.isReused;
  const difference = isSame
    ? undefined
    : await explain(KNOWN_DIFFERENCES, partsOf(pieces), ours, nodes);
  return { ours, nodes, difference };
}

function kindOf({ status, end, isReused }: Reading): string {
  if (status === null) return "no status";
  if (end === null) return "no end";
  return isReused ? "reused" : "closed";
}
