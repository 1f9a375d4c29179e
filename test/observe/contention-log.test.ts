import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "pino";
import { publicId, randomId } from "../../src/lib/ids.ts";
import { createContentionLog } from "../../src/observe/log.ts";

const idsOf = (count: number) => Array.from({ length: count }, randomId);

test("contention is logged at most once a minute, with the public ids of the holders of most slots and of the slowest subscriptions", () => {
  const lines: object[] = [];
  let nowMs = 0;
  const log = { warn: (facts: object) => lines.push(facts) } as unknown as Logger;
  const note = createContentionLog(log, () => nowMs);
  const [organizations, slowed] = [idsOf(9), idsOf(9)];
  const counted = (ids: string[]) => ids.map((id, n): [string, number] => [id, n]);

  const one = {
    holders: { organizations: counted(organizations), failingHosts: counted(["dead.test"]) },
    slowed: counted(slowed),
  };
  note(one);
  nowMs = 59_999;
  note(one);
  assert.deepEqual(lines, [
    {
      organizations: Object.fromEntries(
        [8, 7, 6, 5, 4].map((n) => [publicId("org", organizations[n] ?? ""), n]),
      ),
      failingHosts: { "dead.test": 0 },
      slowed: Object.fromEntries([0, 1, 2, 3, 4].map((n) => [publicId("wh", slowed[n] ?? ""), n])),
    },
  ]);
  nowMs = 60_000;
  note(one);
  assert.equal(lines.length, 2);
});
