import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { countWorkers, readQuota, workersFor } from "../../src/start/workers.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

test("WORKERS=auto is half of the cores, at least one, and no more than a container's quota allows", async () => {
  const found = [1, 2, 3, 8, 64].map((cores) => workersFor(cores, ""));
  assert.deepEqual(found, [1, 1, 1, 4, 32]);
  assert.equal(workersFor(64, "400000 100000\n"), 2);
  assert.equal(workersFor(64, "50000 100000\n"), 1);
  assert.equal(workersFor(8, "max 100000\n"), 4);
  assert.ok((await countWorkers({ workers: "auto" })) >= 1);
  assert.equal(await countWorkers({ workers: 7 }), 7);
});

test("WORKERS=auto finds the quota of both versions of control groups, and does without", async (t) => {
  const folder = await aTemporaryFolder(t);
  assert.equal(workersFor(64, await readQuota(folder)), 32);

  await mkdir(join(folder, "cpu"));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write("cpu/cpu.cfs_quota_us", "-1\n"); // None.
  await write("cpu/cpu.cfs_period_us", "100000\n");
  assert.equal(workersFor(64, await readQuota(folder)), 32);
  await write("cpu/cpu.cfs_quota_us", "800000\n");
  assert.equal(workersFor(64, await readQuota(folder)), 4);

  await write("cpu.max", "400000 100000\n");
  assert.equal(workersFor(64, await readQuota(folder)), 2);
});
