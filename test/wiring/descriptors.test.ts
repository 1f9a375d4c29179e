import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { planConnections, shareDescriptors } from "../../src/wiring/descriptors.ts";

const all = { role: "all", dispatchConcurrency: 512, shards: [1] } as const;
const PLENTY = { partners: 20_000, operators: 20_000 };

test("with enough descriptors every part gets its maximum", () => {
  assert.deepEqual(shareDescriptors(1_000_000, all), { ...PLENTY, receivers: 3_640 });
  assert.deepEqual(shareDescriptors(Infinity, all), { ...PLENTY, receivers: 3_640 });
});

for (const descriptors of [256, 1_024, 4_096, 65_536]) {
  for (const role of ["all", "api", "dispatcher"] as const) {
    test(`with ${descriptors} descriptors and the role ${role}, a hundred are left for the database and the rest`, () => {
      const shared = shareDescriptors(descriptors, { ...all, role });
      const { partners, operators, receivers } = shared;
      assert.ok(partners + operators + receivers <= descriptors - 100);
      assert.equal(partners > 0, role !== "dispatcher");
      assert.equal(receivers > 0, role !== "api");
      assert.ok(operators >= 8);
    });
  }
}

test("1,400 descriptors are enough for every attempt of the default", () => {
  assert.deepEqual(shareDescriptors(1_400, all), { partners: 569, operators: 81, receivers: 650 });
});

/** A pool of ten, a probe and a listener, and the descriptors of an export. */
const OF_SHARD = 16;

for (const count of [1, 8, 64]) {
  test(`each of ${count} shards has its connections in reserve, and too few descriptors fail the start`, () => {
    const config = { ...all, shards: Array.from({ length: count }, (_, n) => n) };
    const least = 240 + count * OF_SHARD;
    const { partners, operators, receivers } = shareDescriptors(least, config);
    assert.ok(partners + operators + receivers <= least - 84 - count * OF_SHARD);
    assert.ok(operators >= 8 && partners > operators);

    const log = pino({ level: "silent" });
    planConnections(config, log, least);
    const message = new RegExp(`^the limit of open files is ${least - 1}: .*needs ${least}$`);
    assert.throws(() => planConnections(config, log, least - 1), { message });
  });
}
