import assert from "node:assert/strict";
import { test } from "node:test";
import { FailedSignIns } from "../../../src/http/operator-authentication.ts";

const at = (ms: number) => new Date(ms);

test("a window lasts a minute from its first failure", () => {
  const failed = new FailedSignIns();
  for (let i = 0; i < 10; i++) assert.equal(failed.count("a", at(i)).isTooMany, false);
  assert.deepEqual(failed.count("a", at(59_999)), {
    isTooMany: true,
    isFirst: true,
    resetSeconds: 1,
  });
  assert.equal(failed.count("a", at(59_999)).isFirst, false);
  assert.equal(failed.count("a", at(60_000)).isTooMany, false);
});

test("the number of remembered addresses is bounded, and the latest are kept", () => {
  const failed = new FailedSignIns();
  for (let i = 0; i < 30_000; i++) failed.count(`address ${i}`, at(0));
  assert.equal(failed.size, 10_000);

  for (let i = 1; i < 10; i++) failed.count("address 29999", at(0));
  assert.equal(failed.count("address 29999", at(0)).isTooMany, true);
});

test("all addresses of an IPv6 /64 share one limit", () => {
  const failed = new FailedSignIns();
  const last = (from: string[]) => from.map((address) => failed.count(address, at(0))).at(-1);
  const network = Array.from({ length: 11 }, (_, host) => `2001:db8:1:2::${host.toString(16)}`);
  assert.equal(last(network)?.isTooMany, true);
  assert.equal(last(["2001:db8:1:3::1"])?.isTooMany, false);

  const mapped = Array.from({ length: 11 }, (_, host) => `::ffff:192.0.2.${host}`);
  assert.equal(last(mapped)?.isTooMany, false, "these are IPv4 addresses of eleven hosts");
});
