import assert from "node:assert/strict";
import { chmod, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isOpenToAll, keep, readKept } from "../../src/lib/kept.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

test("a secret file is open to all if its mode permits others to read or write it", async (t) => {
  const folder = await aTemporaryFolder(t);
  const path = join(folder, "secret");
  assert.equal(await isOpenToAll(path), false, "there is none");

  await keep(path, "a secret");
  assert.equal(await isOpenToAll(path), false, "as it is made");
  for (const [mode, isOpen] of [
    [0o400, false],
    [0o700, false],
    [0o660, false],
    [0o604, true],
    [0o602, true],
  ] as const) {
    await chmod(path, mode);
    assert.equal(await isOpenToAll(path), isOpen, mode.toString(8));
  }
});

test("root does not read a secret through a link", async (t) => {
  if (process.geteuid?.() !== 0) {
    t.skip("this needs root");
    return;
  }
  const folder = await aTemporaryFolder(t);
  await keep(join(folder, "known-to-all"), "what everybody can read");
  const path = join(folder, "admin-token");
  await symlink("known-to-all", path);
  await chmod(join(folder, "known-to-all"), 0o666);
  assert.equal(await isOpenToAll(path), false, "and does not judge its mode");
  await assert.rejects(readKept(path), /admin-token is a link/);
});
