import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { planConnections, shareDescriptors } from "../../src/start/descriptors.ts";

const all = { role: "all", dispatchConcurrency: 512 } as const;
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

test("too few descriptors fail the start", () => {
  const log = pino({ level: "silent" });
  assert.deepEqual(planConnections(all, log, 256), shareDescriptors(256, all));
  const message = "the limit of open files is 255: the service needs 256";
  assert.throws(() => planConnections(all, log, 255), { message });
});
