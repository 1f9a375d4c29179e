import assert from "node:assert/strict";
import { test } from "node:test";
import { countWorkers, workersFor } from "../../src/start/workers.ts";

test("WORKERS=auto is half of the cores, at least one, and no more than a container's quota allows", async () => {
  const found = [1, 2, 3, 8, 64].map((cores) => workersFor(cores, ""));
  assert.deepEqual(found, [1, 1, 1, 4, 32]);
  assert.equal(workersFor(64, "400000 100000\n"), 2);
  assert.equal(workersFor(64, "50000 100000\n"), 1);
  assert.equal(workersFor(8, "max 100000\n"), 4);
  assert.ok((await countWorkers({ workers: "auto" })) >= 1);
  assert.equal(await countWorkers({ workers: 7 }), 7);
});
