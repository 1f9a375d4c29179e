import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { homeFolder, removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { attend, type Child } from "../../src/builtin/keeper-process.ts";
import { readPostmaster } from "../../src/builtin/keeper/processes.ts";
import { attachFrom } from "../support/embedded-child.ts";
import { belongingsOf, keepersIn, lives, rightsOf } from "../support/processes.ts";
import { skipOrFail } from "../support/required.ts";

const isRoot = process.getuid?.() === 0;
const scratch = await mkdtemp(join(tmpdir(), "keeper-"));
const dataDir = join(scratch, "data");
const home = homeFolder(dataDir);
const settings = { fsync: "off" };
const logged: string[] = [];
const log = (message: string) => logged.push(message);

after(async () => {
  await removeEmbedded(dataDir);
  await rm(scratch, { recursive: true, force: true });
});

/** A process in the place of the keeper. */
function aKeeper(script: string): Child {
  return spawn(process.execPath, ["--eval", script], { stdio: ["pipe", "pipe", "ignore"] });
}

const say = (report: object) => `console.log(${JSON.stringify(JSON.stringify(report))});`;
const SERVING = say({ kind: "serving", socketFolder: "/tmp/folder" });
const ALIVE = "setInterval(() => {}, 1000);";

const alive = (report: object) => `${say(report)}${ALIVE}`;
const MALFORMED = /malformed report/;
const TOO_MUCH = /too many or too long reports/;

const HOSTILE: [what: string, script: string, complaint: RegExp][] = [
  ["a line without an end", "setInterval(() => process.stdout.write('x'.repeat(65536)))", TOO_MUCH],
  [
    "lines without an end",
    `setInterval(() => { ${say({ kind: "note", text: "x" })} }, 0)`,
    TOO_MUCH,
  ],
  ["output that is not JSON", `console.log("{");${ALIVE}`, MALFORMED],
  ["null", `console.log("null");${ALIVE}`, MALFORMED],
  ["a report of an unknown kind", alive({ kind: "__proto__", text: "x" }), MALFORMED],
  ["a text that is not a string", alive({ kind: "note", text: ["x"] }), MALFORMED],
  [
    "a folder that leads to another host",
    alive({ kind: "serving", socketFolder: "/@example.com?sslrootcert=/etc/shadow" }),
    MALFORMED,
  ],
  [
    "a folder longer than a socket's path",
    alive({ kind: "serving", socketFolder: `/${"x".repeat(200)}` }),
    MALFORMED,
  ],
  ["nothing and exits with status 0", "", /ended before the server was ready/],
  ["nothing and is killed", "process.kill(process.pid, 'SIGKILL')", /ended with SIGKILL/],
];

for (const [what, script, complaint] of HOSTILE) {
  test(`a keeper that reports ${what} fails the start and is ended`, async () => {
    const child = aKeeper(script);
    const exited = once(child, "exit");
    await assert.rejects(
      attend(child, () => undefined),
      complaint,
    );
    await exited;
  });
}

test("output of a keeper is printed in one short line, without control characters", async () => {
  const told: string[] = [];
  const text = `\u001b]0;title\u0007\r\nfake\u2028\u202e${"x".repeat(3_000)}`;
  const child = aKeeper(`${say({ kind: "note", text })}${SERVING}${ALIVE}`);
  await attend(child, (message) => told.push(message));
  child.kill("SIGKILL");
  const [line = ""] = told;
  assert.match(line, /^\\u\{1b\}\]0;title\\u\{7\}\\u\{d\}\\u\{a\}fake\\u\{2028\}\\u\{202e\}x+$/);
  assert.ok(line.length < 1_100);

  const failing = aKeeper(say({ kind: "failed", text: "no\u001b[2J" }));
  await assert.rejects(attend(failing, log), { message: "no\\u{1b}[2J" });
});

test("a keeper that reports nothing for minutes is ended, at a start and at a stop", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const silent = attend(aKeeper(ALIVE), log);
  t.mock.timers.tick(12 * 60_000);
  await assert.rejects(silent, /reported nothing for 12 min/);

  const keeper = await attend(aKeeper(`${SERVING}${ALIVE}`), log);
  const stopped = keeper.stop();
  t.mock.timers.tick(60_000);
  await assert.rejects(stopped, /reported nothing for 1 min/);
});

test("a keeper that closes its output and goes on is ended after minutes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const child = aKeeper(`require("fs").closeSync(1);${ALIVE}`);
  const ended = once(child.stdout, "end");
  const mute = attend(child, log);
  await ended;
  t.mock.timers.tick(12 * 60_000);
  await assert.rejects(mute, /ended with SIGKILL/);
});

test("a process that holds the pipe of an ended keeper delays nobody", async () => {
  const holder = `require("child_process").spawn("sleep", ["10"], { stdio: ["ignore", 1, "ignore"] })`;
  const child = aKeeper(
    `${holder}.unref();${SERVING}process.stdin.once("data", () => process.exit())`,
  );
  const keeper = await attend(child, log);
  const since = performance.now();
  await assert.rejects(keeper.stop());
  assert.ok(performance.now() - since < 5_000);
});

test("keeper and server have only one account's rights, and nothing of root's environment, descriptors or groups", async (t) => {
  if (!isRoot) {
    skipOrFail(t, "only root has rights to give up");
    return;
  }
  const canary = join(scratch, "canary");
  await writeFile(canary, "", { mode: 0o600 });
  const { child } = await attachFrom(t, dataDir, [
    ...["env", "CANARY=canary", "bash", "--norc", "-c", `exec 40>>${canary}; exec "$@"`, "bash"],
  ]);
  const parent = child.pid ?? 0;
  const [keeper = 0] = await keepersIn(home);
  const server = readPostmaster(join(home, "data"))?.pid ?? 0;

  const { uid, gid } = await stat(home);
  const own = {
    uid: [uid, uid, uid, uid],
    gid: [gid, gid, gid, gid],
    groups: [],
    capabilities: [0n, 0n],
  };
  assert.notEqual(uid * gid, 0);
  assert.deepEqual(await rightsOf(keeper), own);
  assert.deepEqual(await rightsOf(server), own);

  const [ofParent, ofKeeper, ofServer] = await Promise.all(
    [parent, keeper, server].map(belongingsOf),
  );
  assert.ok(ofParent?.environment.includes("CANARY=canary") && ofParent.open.includes(canary));
  assert.deepEqual(ofKeeper?.environment, ["UV_USE_IO_URING=0"]);
  assert.deepEqual(
    ofServer?.environment.filter((variable) => !/^(LC_\w+|PG\w+)=/.test(variable)),
    [],
  );
  const isFile = (path: string) => path.startsWith("/") && !path.startsWith("/dev/");
  assert.deepEqual(ofKeeper.open.filter(isFile), []);
  assert.ok(!ofServer.open.includes(canary));

  child.kill("SIGKILL");
  await until(async () => !(await lives(keeper)));
  await (await startEmbedded({ dataDir, log, settings })).stop();
  assert.equal(await lives(server), false);
});

test("a killed keeper is replaced, and the last process to leave still stops the server", async () => {
  const server = await startEmbedded({ dataDir, log, settings });
  logged.length = 0;
  const [killed = 0] = await keepersIn(home);
  const postmaster = readPostmaster(join(home, "data"))?.pid ?? 0;
  process.kill(killed, "SIGKILL");
  await until(async () => (await keepersIn(home)).some((pid) => pid !== killed));
  assert.equal(await lives(postmaster), true);

  await server.stop();
  assert.deepEqual(logged, ["the keeper process of PostgreSQL has ended: starting another one"]);
  assert.equal(await lives(postmaster), false);
  assert.deepEqual(await readdir(join(home, "attached")), []);
});

test("a keeper that is killed just before the stop leaves no server behind", async () => {
  const server = await startEmbedded({ dataDir, log, settings });
  const postmaster = readPostmaster(join(home, "data"))?.pid ?? 0;
  const [killed = 0] = await keepersIn(home);
  process.kill(killed, "SIGKILL");
  await server.stop();
  assert.equal(await lives(postmaster), false);
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(5);
}
