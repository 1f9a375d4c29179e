// Depends on: src, bin, packages, scripts

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmod,
  chown,
  lchown,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { test as anyTest, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { homeFolder } from "../../src/builtin/index.ts";
import { startListener } from "../support/listener.ts";
import { runProgram, startProgram } from "../support/program.ts";
import { skipOrFail } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

// A command of root on another user's DATA_DIR, with that user's traps.
const THEM = 65_534; // nobody: PostgreSQL needs an account with a name.
const SECRET = "what-only-root-may-read-0123456789";

interface Folders {
  t: TestContext;
  /** The user's folder. */
  dataDir: string;
  /** Only root may read this. */
  canaries: string;
}

/** Without root each test here is skipped, or fails in the gate. */
function test(title: string, work: (folders: Folders) => Promise<void>): void {
  void anyTest(title, async (t) => {
    if (process.getuid?.() === 0) await work(await aFolderOfTheirs(t));
    else skipOrFail(t, "only root works in other users' folders");
  });
}

async function aFolderOfTheirs(t: TestContext): Promise<Folders> {
  const folder = await aTemporaryFolder(t);
  await chmod(folder, 0o755);
  const [dataDir, canaries] = [join(folder, "data"), join(folder, "canaries")];
  await mkdir(dataDir, { mode: 0o700 });
  await chown(dataDir, THEM, THEM);
  await mkdir(canaries, { mode: 0o700 });
  await writeFile(join(canaries, "file"), SECRET, { mode: 0o600 });
  return { t, dataDir, canaries };
}

/** Returns true if the user may read this checkout and run this Node.js, which the tests need. */
function mayRead(): boolean {
  const options = { uid: THEM, gid: THEM, cwd: "/" };
  const isRead = spawnSync("cat", [join(ROOT, "package.json")], options).status === 0;
  return isRead && spawnSync(process.execPath, ["--version"], options).status === 0;
}

const theirsIn = (folder: string) =>
  execFileSync("find", [folder, "!", "-uid", String(THEM)], { encoding: "utf8" });

test("root's service and commands on a user's DATA_DIR run as that user", async ({
  t,
  dataDir,
}) => {
  const env = { DATA_DIR: dataDir, ADMIN_TOKEN: "" };
  if (!mayRead()) {
    const { status, stderr } = await runProgram(["org", "list"], env);
    assert.equal(status, 1);
    assert.match(stderr, /uid 65534 cannot read this installation/);
    return;
  }
  const program = await startProgram(t, env);
  assert.match(program.complaint(), /belongs to uid 65534: continuing as that user/);
  const { status, stdout } = await runProgram(["org", "list"], env);
  assert.deepEqual([status, stdout], [0, "There are no organizations yet.\n"]);
  assert.equal(await program.end("SIGTERM"), 0);
  assert.equal(theirsIn(dataDir), "");
  await stat(join(dataDir, "postgres", "data"));
  await stat(join(dataDir, "sealing-keys"));
});

test("root's workers on a user's DATA_DIR never have root's rights", async ({ t, dataDir }) => {
  if (!mayRead()) return;
  const program = await startProgram(t, { DATA_DIR: dataDir, ADMIN_TOKEN: "", WORKERS: "2" });
  assert.equal(program.complaint().match(/continuing as that user/g)?.length, 1);
  const pids = () => program.log.filter(({ msg }) => msg === "worker ready").map(({ pid }) => pid);
  while (pids().length < 2) await sleep(20);
  for (const pid of pids()) {
    const [, ids] =
      /^Uid:\t(.*)$/m.exec(await readFile(`/proc/${String(pid)}/status`, "utf8")) ?? [];
    assert.equal(ids, Array(4).fill(THEM).join("\t"));
  }
  assert.equal(await program.end("SIGTERM"), 0);
  assert.equal(theirsIn(dataDir), "");
});

test("root neither reads, prints nor writes through links that a user put into a DATA_DIR", async ({
  dataDir,
  canaries,
}) => {
  for (const name of ["postgres", "admin-token", "sealing-keys"]) {
    await rm(join(dataDir, name), { recursive: true, force: true });
    await symlink(name === "postgres" ? canaries : join(canaries, "file"), join(dataDir, name));
    await lchown(join(dataDir, name), THEM, THEM);
    const { status, stdout, stderr } = await runProgram(["doctor"], { DATA_DIR: dataDir });
    assert.equal(status, 1);
    assert.doesNotMatch(stdout + stderr, new RegExp(SECRET));
    assert.equal(execFileSync("ls", [canaries], { encoding: "utf8" }), "file\n");
  }
});

test("nothing is created through a user's link from DATA_DIR to a folder of root", async ({
  dataDir,
  canaries,
}) => {
  const link = join(dataDir, "link");
  await symlink(canaries, link);
  await lchown(link, THEM, THEM);
  for (const DATA_DIR of [link, join(link, "deeper")]) {
    const { status } = await runProgram(["doctor"], { DATA_DIR });
    assert.equal(status, 1);
    assert.equal(execFileSync("ls", [canaries], { encoding: "utf8" }), "file\n");
  }
});

test("root runs no EXPORT_COMMAND for the built-in database", async ({ t, canaries }) => {
  const dataDir = join(canaries, "data");
  const env = { DATA_DIR: dataDir, EXPORT_COMMAND: "true", PORT: "0", OPERATOR_PORT: "0" };
  const { status, stdout, stderr } = await runProgram(["serve"], env);
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /^error: EXPORT_COMMAND: not possible if root .*set DATABASE_URL\n$/);
  await assert.rejects(stat(homeFolder(dataDir)), { code: "ENOENT" });
  const doctor = await runProgram(["doctor"], { ...env, DATABASE_URL: "" });
  t.after(() => rm(homeFolder(dataDir), { recursive: true, force: true }));
  assert.match(doctor.stdout, /^FAULT +export +EXPORT_COMMAND: not possible if root/m);
});

test("certificates for `listen` are kept in a user's folder with that user's rights", async ({
  dataDir,
  canaries,
}) => {
  await symlink(join(canaries, "file"), join(dataDir, "ca.pem"));
  await lchown(join(dataDir, "ca.pem"), THEM, THEM);
  const args = ["listen", "--certificates", dataDir, "--port", "0"];
  const { status, stderr } = await runProgram(args, {});
  assert.equal(status, 1);
  assert.match(stderr, /belongs to uid 65534: continuing as that user\nerror: .*EACCES.*\n$/);
  assert.equal(execFileSync("cat", [join(canaries, "file")], { encoding: "utf8" }), SECRET);
});

const ENTRIES: Record<string, string | undefined> = {
  "partner-api": undefined,
  "the package": asProgram("listen/cli"),
};

/** A module with `main` as the command line has it, for the program of the package. It has no word for its command. */
function asProgram(name: string): string {
  const program = new URL(`../../src/${name}.js`, import.meta.url).href;
  const main = `(argv) => m(argv.slice(1), { version: "0", env: process.env })`;
  const source = `import { main as m } from "${program}"; export const main = ${main};`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

for (const [of, entry] of Object.entries(ENTRIES)) {
  test(`\`listen\` of ${of} records and replays in a user's folder with that user's rights`, async ({
    t,
    dataDir,
    canaries,
  }) => {
    const limits = entry === undefined ? {} : { entry };
    const trap = join(dataDir, "trap");
    await symlink(join(canaries, "file"), trap);
    await chmod(join(canaries, "file"), 0o644);
    const certificates = ["--certificates", join(canaries, "listen"), "--port", "0"];
    const forward = ["--forward-to", "http://127.0.0.1:1/"];
    for (const args of [
      ["--record", trap, ...certificates],
      ["--replay", trap, ...forward],
    ]) {
      const { status, stderr } = await runProgram(["listen", ...args], {}, limits);
      assert.equal(status, 1);
      assert.match(
        stderr,
        /belongs to uid 65534: continuing as that user\nerror: .*(EACCES|ELOOP).*\n$/,
      );
    }
    const { mode, size } = await stat(join(canaries, "file"));
    assert.deepEqual([mode & 0o777, size], [0o644, SECRET.length]);

    const file = join(dataDir, "recording");
    const env = { DATA_DIR: dataDir };
    const listener = await startListener(t, ["--record", file, "--port", "0"], env, limits);
    assert.equal(await listener.end(), 0);
    assert.equal((await stat(file)).uid, THEM);
    await rm(trap);
    assert.equal(theirsIn(dataDir), "");
  });
}

test("the demo in a user's TMPDIR runs as that user, and leaves nothing", async ({ dataDir }) => {
  const { status, stderr } = await runProgram(["demo"], { TMPDIR: dataDir });
  if (mayRead()) assert.equal(status, 0, stderr);
  const found = mayRead() ? "continuing as that user" : "uid 65534 cannot read this installation";
  assert.match(stderr, new RegExp(`belongs to uid 65534.*${found}\n$`));
  assert.deepEqual(await readdir(dataDir), []);
});

test("the demo makes no folder where every user can replace it", async ({ dataDir }) => {
  await chown(dataDir, 0, 0);
  await chmod(dataDir, 0o777);
  const { status, stdout, stderr } = await runProgram(["demo"], { TMPDIR: dataDir });
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /^error: every user can replace files in \S+data: chmod o-w\n$/);
  assert.deepEqual(await readdir(dataDir), []);
});

test("a DATA_DIR of root in a folder that every user can replace is refused with one line", async ({
  dataDir,
}) => {
  const roots = join(dataDir, "roots");
  await mkdir(roots);
  const inTheirs = await runProgram(["org", "list"], { DATA_DIR: roots });
  assert.match(
    inTheirs.stderr,
    /^error: \S+roots belongs to root, but \S+data belongs to uid 65534\. .*\n$/,
  );

  await chown(dataDir, 0, 0);
  await chmod(dataDir, 0o777);
  const inOpen = await runProgram(["org", "list"], { DATA_DIR: roots });
  assert.match(inOpen.stderr, /^error: every user can replace files in \S+data: chmod o-w\n$/);
});

test("a DATA_DIR of root in a folder that another group can replace is refused with one line", async ({
  dataDir,
}) => {
  const roots = join(dataDir, "roots");
  await mkdir(roots);
  await chown(dataDir, 0, THEM);
  await chmod(dataDir, 0o770);
  const { status, stderr } = await runProgram(["org", "list"], { DATA_DIR: roots });
  assert.equal(status, 1);
  assert.match(stderr, /^error: group 65534 can replace files in \S+data: chmod g-w\n$/);
});

test("a DATA_DIR that root created and now belongs to a user is reported", async ({
  t,
  dataDir,
}) => {
  const home = homeFolder(dataDir);
  await mkdir(home, { recursive: true });
  t.after(() => rm(home, { recursive: true, force: true }));
  const { status, stderr } = await runProgram(["org", "list"], { DATA_DIR: dataDir });
  assert.deepEqual([status, stderr.includes(home)], [1, true]);
  assert.match(stderr, /belongs to root: give the folder to root\n$/);
});

test("root reads only regular files of its own as secret files", async ({ dataDir }) => {
  await chown(dataDir, 0, 0);
  const token = join(dataDir, "admin-token");
  await writeFile(token, SECRET);
  await chown(token, THEM, THEM);
  const given = await runProgram(["doctor"], {
    DATA_DIR: dataDir,
    DATABASE_URL: "postgres://127.0.0.1:1/x",
  });
  assert.match(given.stdout, /^FAULT +admin tokens +\S+ does not belong to root$/m);

  await rm(token);
  execFileSync("mkfifo", [token]);
  const pipe = await runProgram(["doctor"], {
    DATA_DIR: dataDir,
    DATABASE_URL: "postgres://127.0.0.1:1/x",
  });
  assert.match(pipe.stdout, /^FAULT +admin tokens +\S+ is not a regular file of at most 64 KiB$/m);
});
