import assert from "node:assert/strict";
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { Registry } from "prom-client";
import { watchDisk } from "../../src/observe/metrics.ts";

async function exposed(databaseFolder: string) {
  const registry = new Registry();
  watchDisk([registry], databaseFolder);
  const values = (await registry.getMetricsAsJSON()).map(
    ({ name, values: [first] }) => [name, first?.value] as const,
  );
  return new Map(values);
}

test("the size of the built-in database's disk is exported", async () => {
  const metrics = await exposed(tmpdir());
  const { blocks, bsize } = statfsSync(tmpdir());
  assert.equal(metrics.get("partner_api_data_disk_size_bytes"), blocks * bsize);
  const free = metrics.get("partner_api_data_disk_free_bytes") ?? NaN;
  assert.ok(free > 0 && free < blocks * bsize, String(free));
});
