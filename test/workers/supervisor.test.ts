import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutProgram } from "../../src/workers/supervisor.ts";

test("the options of Node.js are passed on to workers, and the program that -e names is not", () => {
  const flags = ["--max-semi-space-size=8", "--v8-pool-size=2", "--import", "file:///hook.js"];
  assert.deepEqual(withoutProgram(flags), flags);
  assert.deepEqual(withoutProgram(["--input-type=module", "-e", "main()", ...flags]), flags);
});
