// Depends on: src

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { homeFolder, removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { tryConnect } from "../../src/builtin/presence.ts";
import { readPostmaster } from "../../src/builtin/keeper/processes.ts";
import { observe } from "../../src/builtin/keeper/server.ts";
import { attachFrom, visit } from "../support/embedded-child.ts";
import { keepersIn, lives } from "../support/processes.ts";
import { requireProgram } from "../support/required.ts";

// The signs of a server and of its users that a process may see, and must not misread.
const scratch = await mkdtemp(join(tmpdir(), "reach-"));
const dataDir = join(scratch, "data");
const home = homeFolder(dataDir);
const socket = join(home, "run", ".s.PGSQL.5432");
const settings = { fsync: "off" };
const log = () => undefined;

afterEach(async () => {
  assert.equal(await lives(serverPid()), false, "the last one to leave stops the server");
});

after(async () => {
  await removeEmbedded(dataDir);
  await rm(scratch, { recursive: true, force: true });
});

function serverPid(): number {
  return readPostmaster(join(home, "data"))?.pid ?? 0;
}

/**
 * Prevents the one process that uses the server from repairing anything. Returns a function that lets it
 * continue.
 */
async function freeze(): Promise<() => void> {
  const [keeper = 0] = await keepersIn(home);
  process.kill(keeper, "SIGSTOP");
  return () => process.kill(keeper, "SIGCONT");
}

test("an unlinked socket returns within seconds, and the server is usable again", async () => {
  const server = await startEmbedded({ dataDir, log, settings });
  const before = serverPid();
  await rm(socket);
  const since = performance.now();
  while ((await tryConnect(socket)) !== null) await sleep(20);
  assert.notEqual(serverPid(), before);
  assert.ok(performance.now() - since < 20_000);
  await server.stop();
});

test("a command that cannot reach a server that others use fails with one line, and does not stop the server", async (t) => {
  const service = await attachFrom(t, dataDir);
  const before = serverPid();
  const thaw = await freeze();
  await rename(socket, `${socket}.aside`);

  const { said, inTime } = await visit(dataDir);
  assert.ok(inTime);
  const line = `fails: PostgreSQL runs as process ${before}, but nothing listens on ${socket}: stop all processes that use DATA_DIR, and start again`;
  assert.equal(said.trim(), line);
  assert.equal(await lives(before), true);

  await rename(`${socket}.aside`, socket);
  thaw();
  await service.stop();
});

test("an unused server without its socket is replaced by the next process", async (t) => {
  const killed = await attachFrom(t, dataDir);
  const left = serverPid();
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");
  await rm(socket);
  const server = await startEmbedded({ dataDir, log, settings });
  assert.equal(await tryConnect(socket), null);
  assert.notEqual(serverPid(), left);
  await server.stop();
});

/** /proc as with systemd's `ProcSubset=pid`: without the boot's id. */
const LESS_OF_PROC = ["unshare", "--mount", "sh", "-c"].concat(
  'mount -t proc -o subset=pid proc /proc && exec "$@"',
  "sh",
);
/** Another container that shares the folder has other pids. */
const OTHER_PIDS = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

for (const [what, through] of [
  ["less of /proc", LESS_OF_PROC],
  ["other pids", OTHER_PIDS],
] as const) {
  test(`a command that sees ${what} uses a service's server, and leaves it running`, async (t) => {
    if (!(await requireProgram(t, "unshare", [...through.slice(1), "true"]))) return;
    const service = await attachFrom(t, dataDir);
    const before = serverPid();
    const { said } = await visit(dataDir, [...through]);
    assert.match(said, /^serves$/m);
    assert.deepEqual([serverPid(), await lives(before)], [before, true]);
    await service.stop();
  });

  test(`a service that sees ${what} keeps its server when a command leaves`, async (t) => {
    if (!(await requireProgram(t, "unshare", [...through.slice(1), "true"]))) return;
    const service = await attachFrom(t, dataDir, [...through]);
    assert.match((await visit(dataDir)).said, /^serves$/m);
    assert.equal(await tryConnect(socket), null);
    await service.stop();
  });
}

test("a command starts no second server while another process may use an invisible one", async (t) => {
  if (!(await requireProgram(t, "unshare", [...OTHER_PIDS.slice(1), "true"]))) return;
  const service = await attachFrom(t, dataDir, OTHER_PIDS);
  const thaw = await freeze();
  await rename(socket, `${socket}.aside`);
  const { said } = await visit(dataDir);
  await rename(`${socket}.aside`, socket);
  thaw();
  assert.match(
    said,
    /^fails: another container uses this DATA_DIR, but nothing listens on \S+: stop all/m,
  );
  await service.stop();
});

test("a server that listens is alive, even if the pid file is wrong", async (t) => {
  const folder = join(scratch, "listening");
  await mkdir(folder);
  assert.deepEqual(await observe(folder, join(folder, "socket")), { kind: "dead", pid: null });
  const listener = createServer().listen(join(folder, "socket"));
  t.after(() => listener.close());
  await once(listener, "listening");
  assert.deepEqual(await observe(folder, join(folder, "socket")), { kind: "starting" });
});
