// Depends on: src

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { removeEmbedded } from "../../src/builtin/index.ts";
import { runProgram, startProgram } from "../support/program.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

test("a command without the service's environment says that no service runs on its database", async (t) => {
  const cwd = await aTemporaryFolder(t);
  const dataDir = join(cwd, ".data");
  t.after(() => removeEmbedded(dataDir));
  const list = (env: Record<string, string> = {}) => runProgram(["delivery", "list"], env, { cwd });
  const hint = new RegExp(
    `^no service runs on the built-in database of ${dataDir}\\.\n.*DATA_DIR`,
    "m",
  );

  const chosen = await list({ DATA_DIR: dataDir });
  assert.match(chosen.stderr, /^created a database in /m);
  assert.doesNotMatch(chosen.stderr, hint);
  const { status, stdout, stderr } = await list();
  assert.match(stderr, hint);
  assert.deepEqual([status, stdout], [0, "No delivery matches.\n"]);

  const service = await startProgram(t, {}, { cwd });
  assert.equal((await list()).stderr, "");
  assert.equal(await service.end("SIGTERM"), 0);
});
