import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  BUCKET_MAX,
  bucketOf,
  LATENCY_ERROR,
  latencyOf,
  mergeHistograms,
  quantileMs,
} from "../../../src/subjects/activity/rules.ts";

const times = fc.array(fc.integer({ min: 0, max: 10 * 86_400_000 }), { minLength: 1 });

function histogramOf(all: number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const ms of all) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1);
  return counts;
}

/** By definition, at least a share of `q` of all times is no longer. */
function exactQuantile(all: number[], q: number): number {
  return all.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(q * all.length)) - 1] ?? NaN;
}

test("merged histograms give every quantile to within half a bucket, for any division of the times", () => {
  fc.assert(
    fc.property(
      fc.array(times, { minLength: 1 }),
      fc.constantFrom(0.01, 0.5, 0.9, 0.99, 1),
      (parts, q) => {
        const merged = mergeHistograms(parts.map(histogramOf));
        assert.deepEqual(merged, histogramOf(parts.flat()));
        const exact = exactQuantile(parts.flat(), q);
        const told = quantileMs(merged, q) ?? NaN;
        // Whole milliseconds: rounding may add half a millisecond.
        assert.ok(Math.abs(told - exact) <= exact * LATENCY_ERROR + 1, `${told} for ${exact}`);
      },
    ),
  );
});

test("the error of a quantile is less than 8 %", () => assert.ok(LATENCY_ERROR < 0.08));

test("no time has a bucket beyond the last one, and buckets rise with times", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, noNaN: true }), fc.double({ min: 0, noNaN: true }), (a, b) => {
      assert.ok(bucketOf(a) <= BUCKET_MAX);
      assert.ok(a > b || bucketOf(a) <= bucketOf(b));
    }),
  );
  assert.ok(BUCKET_MAX < 200);
});

test("an empty histogram has no quantiles", () => {
  assert.deepEqual(latencyOf(new Map()), { p50: null, p99: null });
});
