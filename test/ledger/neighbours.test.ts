import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfP99, neighboursOf, percentile } from "./neighbours.ts";

test("organizations of shards without a fault are timed, and their refusals are counted", () => {
  const of = (shard: string) => ({ organization: `ledger-${shard}`, shard });
  const { refusals, receivedMs } = neighboursOf({
    spared: ["01"],
    partners: [of("00"), of("01")],
    called: { refusals: new Map([...tally("00", 5), ...tally("01", 1)]) },
    publications: {
      began: new Map([
        ...tally("ledger-00/a", 0),
        ...tally("ledger-01/b", 100),
        ...tally("ledger-01/c", 100),
      ]),
      answers: new Map([
        ["ledger-01/b", new Set(["1"])],
        ["ledger-01/c", new Set(["2"])],
      ]),
      refusals: new Map([...tally("ledger-00", 7), ...tally("ledger-01", 2)]),
    },
    arrivals: [
      { event: "evt_1", at: 1_150 },
      { event: "evt_1", at: 150 },
      { event: "evt_0", at: 900 },
    ],
  });
  assert.equal(refusals, 3);
  assert.deepEqual(receivedMs, [50, Infinity]);
});

test("a p99 that kills of the other server raise by more than 1.3 is a fault", () => {
  assert.deepEqual(faultsOfP99({ calm: 100, harmed: 130 }), []);
  assert.equal(faultsOfP99({ calm: 100, harmed: 131 }).length, 1);
  assert.equal(faultsOfP99({ calm: 100, harmed: NaN }).length, 1);
});

test("a percentile is one of the times", () => {
  const times = Array.from({ length: 200 }, (_, i) => i + 1);
  assert.deepEqual(
    [0.5, 0.99, 1].map((share) => percentile(times, share)),
    [100, 198, 200],
  );
});

function tally(name: string, count: number): [string, number][] {
  return [[name, count]];
}
