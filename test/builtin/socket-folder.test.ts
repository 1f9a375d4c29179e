import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { dropSocketFolder, prepareSocketFolder } from "../../src/builtin/keeper/files.ts";

const scratch = await mkdtemp(join(tmpdir(), "socket-"));
after(() => rm(scratch, { recursive: true, force: true }));

async function aHome(name: string): Promise<string> {
  const folder = join(scratch, name);
  await mkdir(folder, { recursive: true });
  return folder;
}

test("the socket lies beside the data if the path is short and plain", async () => {
  const home = await aHome("plain");
  assert.equal(await prepareSocketFolder(home), join(home, "run"));
});

for (const name of ["long".repeat(20), "with, comma"]) {
  test(`below ${name} the socket lies elsewhere: closed, and always at the same place`, async () => {
    const home = await aHome(name);
    const folder = await prepareSocketFolder(home);
    assert.ok(folder.length <= 80 && !folder.startsWith(home));
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    assert.equal(await prepareSocketFolder(home), folder);

    await rm(folder, { recursive: true }); // Removes it, as a sweeper of temporary files would.
    assert.equal(await prepareSocketFolder(home), folder);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);

    await dropSocketFolder(home);
    await assert.rejects(stat(folder), { code: "ENOENT" });
  });
}

test("a link in the place of a folder is not followed", async () => {
  const home = await aHome("linked");
  await symlink(scratch, join(home, "run"));
  await assert.rejects(prepareSocketFolder(home), /run is not a folder$/);
});

test("a folder that others can enter is not reused", async () => {
  const home = await aHome("opened".repeat(20));
  const opened = await prepareSocketFolder(home);
  await chmod(opened, 0o755);
  assert.notEqual(await prepareSocketFolder(home), opened);
  await dropSocketFolder(home);
  await rm(opened, { recursive: true });
});
