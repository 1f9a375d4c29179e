// Depends on: src, site, docs, scripts, packages

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const script = fileURLToPath(new URL("../../../scripts/prose.js", import.meta.url));

test("every kind of text that a person can meet is printed with its file and line", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 2 ** 24 });
  for (const line of [
    /^README\.md:\d+ \| .*/m,
    /^site\/pages\/quickstart\.md:\d+ \| .*/m,
    /^site\/console\/pages\/organization\/keys\.tsx:\d+ \| From now on, every request with this key gets 401/m,
    /^src\/subjects\/keys\/commands\.ts:\d+ \| partners' API keys$/m,
    /^src\/http\/build-app\.ts:\d+ \| 400 malformed_request \| The Host header is missing\.$/m,
    /^src\/subjects\/events\/routes\.ts:\d+ \| debug \| event published$/m,
    /^src\/start\/doctor\.ts:\d+ \| none is accessible to every user$/m,
  ]) {
    assert.match(stdout, line);
  }
});
