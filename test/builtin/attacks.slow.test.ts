// Depends on: src

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test, type TestContext } from "node:test";
import { homeFolder, removeEmbedded } from "../../src/builtin/index.ts";
import { visit } from "../support/embedded-child.ts";
import { skipOrFail } from "../support/required.ts";

// The service runs as root, and the attacker has PostgreSQL's account. Root's files and processes must stay
// unchanged and secret. No start may hang.
const isRoot = process.getuid?.() === 0;
const scratch = await realpath(await mkdtemp(join(tmpdir(), "attacks-")));
const dataDir = join(scratch, "data");
const canaries = join(scratch, "canaries");
const home = homeFolder(dataDir);
const SECRET = "what-only-root-may-read";

let account = { uid: 0, gid: 0 };
let untouched = "";

before(async () => {
  if (!isRoot) return;
  const { said } = await visit(dataDir);
  assert.match(said, /^serves$/m);
  const { uid, gid } = await stat(home);
  account = { uid, gid };
  await mkdir(join(canaries, "tree", "deep"), { recursive: true, mode: 0o700 });
  for (const name of ["file", "PG_VERSION", "tree/deep/file"]) {
    await writeFile(join(canaries, name), `${SECRET}\n`, { mode: 0o600 });
  }
});

beforeEach(async () => {
  untouched = await fingerprint();
});

after(async () => {
  await rm(home, { recursive: true, force: true });
  await rm(scratch, { recursive: true, force: true });
});

/** A test of an attack by another account on root. */
function attackTest(name: string, run: (t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    if (isRoot) await run(t);
    else skipOrFail(t, "only for root is another account an attacker");
  });
}

/** Names, owners, modes, sizes and dates of all files of root. */
async function fingerprint(): Promise<string> {
  if (!isRoot) return "";
  const names = (await readdir(canaries, { recursive: true })).sort();
  const lines = await Promise.all(
    ["", ...names].map(async (name) => {
      const path = join(canaries, name);
      const { uid, mode, mtimeMs, size } = await lstat(path);
      return [name, uid, mode, mtimeMs, size].join(" ");
    }),
  );
  return lines.join("\n");
}

/** Replaces an entry of the home, runs root's part, and puts the entry back. */
async function attack(entry: string, lay: (path: string) => Promise<void> | void): Promise<string> {
  const path = join(home, entry);
  const aside = join(scratch, "aside");
  const wasThere = await rename(path, aside).then(
    () => true,
    () => false,
  );
  try {
    await lay(path);
    const { said, inTime } = await visit(dataDir);
    assert.ok(inTime, `a start hangs: ${said}`);
    assert.equal(await fingerprint(), untouched, "files of root have changed");
    assert.ok(!said.includes(SECRET), said);
    return said;
  } finally {
    await rm(path, { recursive: true, force: true });
    if (wasThere) await rename(aside, path);
  }
}

async function layLink(target: string, path: string): Promise<void> {
  await symlink(target, path);
  await lchown(path, account.uid, account.gid);
}

async function layFile(content: string, path: string): Promise<void> {
  await writeFile(path, content);
  await lchown(path, account.uid, account.gid);
}

async function layFolder(path: string): Promise<void> {
  await mkdir(path);
  await lchown(path, account.uid, account.gid);
}

async function layPipe(path: string): Promise<void> {
  execFileSync("mkfifo", [path]);
  await lchown(path, account.uid, account.gid);
}

/** Starts a program, by default as root. It is killed at the end. */
async function run(
  t: TestContext,
  program: string,
  args: string[],
  options: { cwd?: string; uid?: number; gid?: number } = {},
): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: "ignore", cwd: "/", ...options });
  t.after(() => child.kill("SIGKILL"));
  await once(child, "spawn");
  return child;
}

const FOLDERS = ["data", "lock", "attached", "run"];
const FILES = ["server.log", "socket-folder", "data/postmaster.pid", "data/PG_VERSION"];
// Only PostgreSQL reads these. At a pipe it waits as long as we wait for PostgreSQL.
const SETTINGS = ["data/partner-api.conf", "data/postgresql.conf", "data/postgresql.auto.conf"];

for (const entry of [...FOLDERS, "draft.1"]) {
  attackTest(`root does not follow a link from ${entry} to a folder of root`, async () => {
    await attack(entry, (path) => layLink(canaries, path));
  });
}

for (const entry of [...FILES, ...SETTINGS]) {
  attackTest(
    `a link in the place of ${entry} neither shows root's files nor changes them`,
    async () => {
      await attack(entry, (path) => layLink(join(canaries, "file"), path));
      await attack(entry, (path) => layLink(join(canaries, "new"), path));
    },
  );
}

for (const entry of FILES) {
  attackTest(`a pipe in the place of ${entry} blocks nobody`, async () => {
    await attack(entry, layPipe);
  });
}

attackTest("a draft of a database that leads to root's files does not change them", async () => {
  await attack("draft.1", async (path) => {
    await layFolder(path);
    await layLink(join(canaries, "tree"), join(path, "tree"));
    await chmod(path, 0o500);
  });
});

attackTest(
  "a record of the socket's folder that names a folder of root removes nothing",
  async (t) => {
    const chosen = await mkdtemp(join(tmpdir(), "partner-api-"));
    t.after(() => rm(chosen, { recursive: true, force: true }));
    await writeFile(join(chosen, "file"), "");
    await attack("socket-folder", (path) => layFile(chosen, path));
    assert.deepEqual(await readdir(chosen), ["file"]);
  },
);

attackTest("a mark with the pid of another process, such as 1, blocks nobody", async () => {
  const fields = (await readFile("/proc/1/stat", "utf8")).split(" ");
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
  const mark = `1-${fields[21] ?? ""}-${boot.slice(0, 8)}.0123456789ab`;
  for (const entry of ["lock", "attached"]) {
    const said = await attack(entry, async (path) => {
      await layFolder(path);
      await layFile("", join(path, mark));
    });
    assert.match(said, /^serves$/m);
  }
});

attackTest("a pid of root's process in a folder of root gets no signal", async (t) => {
  const trap = await mkdtemp(join(tmpdir(), "trap-"));
  await lchown(trap, account.uid, account.gid);
  t.after(() => rm(trap, { recursive: true, force: true }));
  const victim = await run(t, "sleep", ["600"], { cwd: trap });
  await layFile("18\n", join(trap, "PG_VERSION"));
  const lines = [victim.pid, trap, 1, 5432, trap, "", "", "ready", ""].join("\n");
  await layFile(lines, join(trap, "postmaster.pid"));
  const listener = createServer().listen(join(trap, ".s.PGSQL.5432"));
  t.after(() => listener.close());
  await once(listener, "listening");
  await lchown(join(trap, ".s.PGSQL.5432"), account.uid, account.gid);

  await attack("data", (path) => layLink(trap, path));
  assert.deepEqual([victim.exitCode, victim.signalCode], [null, null]);
});

attackTest("folders that are swapped for links while root works do not mislead it", async (t) => {
  const stop = join(home, "stop");
  const script = `
    cd ${home} && for name in ${FOLDERS.join(" ")}; do ln -s ${canaries} $name.link; done
    while [ ! -e ${stop} ]; do
      for name in ${FOLDERS.join(" ")}; do
        mv -T $name $name.own && mv -T $name.link $name && mv -T $name $name.link
        mv -T $name.own $name
      done
    done`;
  const swapper = await run(t, "sh", ["-c", script], account);
  for (let start = 0; start < 8; start++) await attack("none", () => undefined);
  const exited = once(swapper, "exit");
  await writeFile(stop, ""); // A signal would leave the last mv running.
  await exited;
  await rm(stop);
  for (const name of FOLDERS) {
    await rm(join(home, `${name}.link`), { force: true });
    if (!(await lstat(join(home, `${name}.own`)).catch(() => null))) continue;
    await rm(join(home, name), { recursive: true, force: true });
    await rename(join(home, `${name}.own`), join(home, name));
  }
});

attackTest("root owns nothing in the home, and the database works after all attacks", async () => {
  const isRoots = ["!", "-uid", String(account.uid)];
  assert.equal(execFileSync("find", [home, ...isRoots], { encoding: "utf8" }), "");
  assert.match((await visit(dataDir)).said, /^serves$/m);
});

attackTest(
  "a database is removed with the rights of its account, so links in it lead nowhere",
  async () => {
    await layLink(canaries, join(home, "tree"));
    await layLink(join(canaries, "file"), join(home, "data", "link"));
    await removeEmbedded(dataDir);
    assert.equal(await fingerprint(), untouched);
    await assert.rejects(lstat(home), { code: "ENOENT" });
  },
);
