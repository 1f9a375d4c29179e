import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { linkBinaries, privateCopy, readPackage } from "../../src/builtin/binaries.ts";

const scratch = await mkdtemp(join(tmpdir(), "binaries-"));
after(() => rm(scratch, { recursive: true, force: true }));

/** A package as npm leaves it when it runs no install scripts. */
async function aPackage(name: string): Promise<string> {
  const lib = join(scratch, name, "native", "lib");
  await mkdir(lib, { recursive: true });
  await writeFile(join(lib, "libx.so.1.2"), "", { mode: 0o700 });
  const links = [{ source: "native/lib/libx.so.1.2", target: "native/lib/libx.so.1" }];
  await writeFile(join(lib, "..", "pg-symlinks.json"), JSON.stringify(links));
  await writeFile(join(lib, "..", "..", "package.json"), '{"version":"18.4.0-beta.17"}');
  return join(scratch, name);
}

test("missing links are created, even by two processes at once or repeatedly", async () => {
  const installed = await aPackage("fresh");
  const prepare = async () => linkBinaries(await readPackage(installed), join(scratch, "spare"));
  const [first, second] = await Promise.all([prepare(), prepare()]);
  assert.deepEqual([second, await prepare()], [first, first]);

  const folder = join(installed, "native");
  assert.deepEqual(first, { folder, version: "18.4.0-beta.17", major: "18" });
  assert.equal(await readlink(join(folder, "lib", "libx.so.1")), "libx.so.1.2");
});

test("a path that PostgreSQL's programs would misread is refused with one line", async () => {
  for (const name of ["my $project", 'a "b"', "`c`"]) {
    const linking = linkBinaries(await readPackage(await aPackage(name)), join(scratch, "spare"));
    await assert.rejects(
      linking,
      /programs do not start in .*: its path must have none of " \$ ` in it$/,
    );
  }
});

const asRoot = process.getuid?.() === 0 && "root may write everywhere";

test("a read-only package without links is copied", { skip: asRoot }, async () => {
  const installed = await aPackage("closed");
  const spare = join(scratch, "spare");
  await chmod(join(installed, "native", "lib"), 0o555);

  const { folder } = await linkBinaries(await readPackage(installed), spare);
  await chmod(join(installed, "native", "lib"), 0o755);
  assert.equal(folder, join(spare, `18.4.0-beta.17-${process.arch}`));
  assert.equal(await readlink(join(folder, "lib", "libx.so.1")), "libx.so.1.2");
});

test("a copy is complete or absent, and every user can read it", async () => {
  const from = join(await aPackage("copied"), "native");
  const to = join(scratch, "copies", "18");
  const abandoned = `${to}.99999999-1-x.0`;
  await mkdir(abandoned, { recursive: true });

  const isAbsent = () => assert.rejects(stat(to), { code: "ENOENT" });
  const fails = () => isAbsent().then(() => Promise.reject(new Error("no space")));
  await assert.rejects(privateCopy(from, to, fails), /no space/);
  await isAbsent();

  const done = () => Promise.resolve();
  await Promise.all([privateCopy(from, to, done), privateCopy(from, to, done)]);
  assert.deepEqual(await readdir(join(scratch, "copies")), ["18"]);
  assert.equal((await stat(join(to, "lib"))).mode & 0o777, 0o755);
  assert.equal((await stat(join(to, "lib", "libx.so.1.2"))).mode & 0o777, 0o755);
  assert.equal((await stat(join(to, "pg-symlinks.json"))).mode & 0o777, 0o644);
});
