import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "pino";
import { createContentionLog } from "../../src/wiring/contention-log.ts";

test("contention is logged at most once a minute, with the organizations that have most slots", () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const log = { warn: (facts: object) => lines.push(facts) } as unknown as Logger;
  const note = createContentionLog(log, () => nowMs);
  const organizations = Array.from({ length: 9 }, (_, n): [string, number] => [`o${n}`, n]);

  note({ organizations, failingHosts: [["dead.test", 3]] });
  nowMs = 59_999;
  note({ organizations: [], failingHosts: [] });
  assert.deepEqual(lines, [
    { organizations: { o8: 8, o7: 7, o6: 6, o5: 5, o4: 4 }, failingHosts: { "dead.test": 3 } },
  ]);
  nowMs = 60_000;
  note({ organizations: [], failingHosts: [] });
  assert.equal(lines.length, 2);
});
