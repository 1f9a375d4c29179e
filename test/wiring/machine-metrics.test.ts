import assert from "node:assert/strict";
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { Registry } from "prom-client";
import { watchMachine } from "../../src/wiring/machine-metrics.ts";

async function exposed(databaseFolder: string | null, clock = { skewMs: -2_500 }) {
  const registry = new Registry();
  watchMachine([registry], { clock, databaseFolder });
  const values = (await registry.getMetricsAsJSON()).map(
    ({ name, values: [first] }) => [name, first?.value] as const,
  );
  return new Map(values);
}

test("the clock's skew is in seconds, in both directions", async () => {
  assert.equal((await exposed(null)).get("partner_api_clock_skew_seconds"), -2.5);
});

test("the size of the built-in database's disk is exported, and of no other disk", async () => {
  const metrics = await exposed(tmpdir());
  const { blocks, bsize } = statfsSync(tmpdir());
  assert.equal(metrics.get("partner_api_data_disk_size_bytes"), blocks * bsize);
  const free = metrics.get("partner_api_data_disk_free_bytes") ?? NaN;
  assert.ok(free > 0 && free < blocks * bsize, String(free));
  assert.deepEqual([...(await exposed(null)).keys()], ["partner_api_clock_skew_seconds"]);
});
