import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openAdminTokens } from "../../src/start/keys.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

test("a token is created once and read again", async (t) => {
  const config = { adminTokens: null, dataDir: await aTemporaryFolder(t) };
  const [made] = await openAdminTokens(config);
  assert.equal(made?.name, "operator");
  assert.match(made.token, /^[\w-]{43}$/);
  assert.deepEqual(await openAdminTokens(config), [made]);
});

for (const [what, content] of [
  ["empty", ""],
  ["blank", " \n"],
  ["short", "guess me\n"],
  ["broken", `${"a".repeat(40)} ${"b".repeat(40)}\n`],
] as const) {
  test(`a token file that is ${what} stops the start`, async (t) => {
    const dataDir = await aTemporaryFolder(t);
    await writeFile(join(dataDir, "admin-token"), content);
    await assert.rejects(openAdminTokens({ adminTokens: null, dataDir }), /admin-token is damaged/);
  });
}
