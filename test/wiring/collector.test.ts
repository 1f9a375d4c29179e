import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const COLLECTOR = fileURLToPath(new URL("../../src/wiring/collector.js", import.meta.url));

test("this Node.js knows every option that the collector is given", () => {
  const program = `(await import(${JSON.stringify(COLLECTOR)})).tuneCollector()`;
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { encoding: "utf8" },
  );
  assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
});
