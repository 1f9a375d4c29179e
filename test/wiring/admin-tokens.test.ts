import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openAdminTokens } from "../../src/wiring/admin-tokens.ts";

async function aFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test("a token is created once and read again", async (t) => {
  const config = { adminTokens: null, dataDir: await aFolder(t) };
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
    const dataDir = await aFolder(t);
    await writeFile(join(dataDir, "admin-token"), content);
    await assert.rejects(openAdminTokens({ adminTokens: null, dataDir }), /admin-token is damaged/);
  });
}
