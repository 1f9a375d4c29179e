import assert from "node:assert/strict";
import childProcess from "node:child_process";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  EXPORT_LEASE_MS,
  EXPORT_RETRY_MS,
  exportNext,
  startExporting,
} from "../../src/jobs/history-exports.ts";
import { createLogger } from "../../src/observe/log.ts";
import { createMetrics } from "../../src/observe/metrics.ts";
import { countExports } from "../../src/subjects/activity/exports-sql.ts";
import { findOverview } from "../../src/subjects/activity/overview.ts";
import { ProblemLog } from "../../src/subjects/activity/rules.ts";
import { Arrivals } from "../support/arrivals.ts";
import { createClock } from "../support/clock.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { aDetachedDay, daysAgo, isThere, listWaiting } from "../support/expired-history.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const db = await createDatabase();

/** Reports when it has begun, and ends on request. */
const HELD = 'mkfifo "$1/on"; echo > "$1/on"; cat "$1/on" >> "$1/runs"';

const onError = (error: unknown) => {
  throw error;
};

/** A detached partition, and a program with this text that exports it, on a clock that the test moves. */
async function anExport(t: TestContext, text: string, days = 40) {
  const partition = await aDetachedDay(db, days);
  const folder = await aTemporaryFolder(t);
  const program = join(folder, "export");
  const write = async (script: string) => {
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    await chmod(program, 0o755);
  };
  await write(text);
  const log = new Arrivals<Record<string, unknown>>();
  const logger = createLogger("info", {
    write: (line: string) => log.add(JSON.parse(line) as Record<string, unknown>),
  });
  const clock = createClock(daysAgo(0));
  const stopping = new AbortController();
  const command = { program, args: [folder], env: { PATH: process.env["PATH"] } };
  const exportOne = (options: { limitMs?: number; renewMs?: number; program?: string } = {}) =>
    exportNext(
      { db, clock },
      { ...command, program: options.program ?? program },
      { log: logger, onError, signal: stopping.signal, ...options },
    );
  const problem = async () => {
    const trends = { last_24h: {}, failing: [], slowest: [] } as never;
    const rest = { checks: [], trends, folders: new ProblemLog() };
    const { problems } = await findOverview(
      { db, clock, retentionMs: 0, rules: { retryDelaysMs: [] } },
      rest,
    );
    return problems.find(({ code }) => code === "export")?.detail;
  };
  return { partition, folder, write, log, logger, clock, command, stopping, exportOne, problem };
}

test("the program gets its arguments and the qualified name, and the partition is dropped after its success", async (t) => {
  const { partition, folder, exportOne, log, problem } = await anExport(
    t,
    'echo "$2" > "$1/named"',
  );
  assert.equal(await exportOne(), true);
  assert.equal(await readFile(join(folder, "named"), "utf8"), `public.${partition}\n`);
  assert.equal(await isThere(db, partition), false);
  assert.deepEqual(await listWaiting(db), []);
  assert.equal(log.all.at(-1)?.["msg"], "history was exported and dropped");
  assert.equal(await problem(), undefined);
  assert.equal(await exportOne(), false, "nothing is left");
});

for (const [what, script, why] of [
  ["ends with status 1", "echo disk full >&2; exit 1", "exit status 1"],
  ["is killed by a signal", "kill -9 $$", "signal SIGKILL"],
] as const) {
  test(`a program that ${what} keeps the partition and is repeated later`, async (t) => {
    const { partition, exportOne, log, clock, write, problem } = await anExport(t, script);
    await exportOne();
    assert.equal(await isThere(db, partition), true);
    const { msg, level, ...line } = log.all.at(-1) ?? {};
    assert.deepEqual([line["partition"], line["why"], level], [`public.${partition}`, why, 50]);
    assert.match(String(msg), /was not exported/);
    if (why === "exit status 1") assert.equal(line["output"], "disk full\n");
    assert.match((await problem()) ?? "", new RegExp(`failed once for ${partition} \\(${why}\\)`));
    assert.deepEqual(await countExports(db), { waiting: 1, failing: 1 });
    const activity = { published: 0 };
    const metrics = createMetrics({ db, clock: { now: clock, skewMs: 0 }, activity });
    metrics.watchExports();
    assert.match(
      (await metrics.expose()).body,
      /^partner_api_history_exports\{state="failing"\} 1$/m,
    );

    clock.advance(EXPORT_RETRY_MS - 1);
    assert.equal(await exportOne(), false);
    clock.advance(1);
    await exportOne();
    assert.match((await problem()) ?? "", /failed 2 times/);
    clock.advance(EXPORT_RETRY_MS);
    await write("exit 0");
    await exportOne();
    assert.equal(await isThere(db, partition), false);
    assert.equal(await problem(), undefined);
  });
}

for (const name of ["../../etc/cron.d/x", "--file=x", "events_20261101_000000_expired\n", "keys"]) {
  test(`a table that the server names ${JSON.stringify(name)} is not exported`, async (t) => {
    const { partition, folder, exportOne, log, problem } = await anExport(t, 'touch "$1/runs"');
    const owner = ownerOf(db);
    await owner`alter table ${owner(partition)} rename to ${owner(name)}`;
    await owner`update history_exports set partition = ${name}`;
    await exportOne();
    assert.deepEqual(await readdir(folder), ["export"]);
    const why = "not the name of a history table";
    assert.deepEqual([log.all.at(-1)?.["why"], log.all.at(-1)?.["level"]], [why, 50]);
    assert.match((await problem()) ?? "", new RegExp(`\\(${why}\\)`));
    assert.equal(await isThere(db, `"${name}"`), true);
  });
}

test("of a long name the beginning is logged and shown", async (t) => {
  const { partition, exportOne, log, problem } = await anExport(t, "exit 0");
  const owner = ownerOf(db);
  await owner`drop table ${owner(partition)}`;
  await owner.unsafe(`
    alter table history_exports drop constraint history_exports_partition_check;
    alter function permit_export rename to permit_true_export;
    create function permit_export(text) returns boolean language sql return true`);
  t.after(() =>
    owner.unsafe(`
      drop function permit_export;
      alter function permit_true_export rename to permit_export;
      delete from history_exports;
      alter table history_exports add constraint history_exports_partition_check check (length(partition) <= 63)`),
  );
  await owner`update history_exports set partition = ${"x".repeat(100_000)}`;
  await exportOne();
  for (const text of [log.all.at(-1)?.["partition"], await problem()]) {
    assert.match(String(text), /x{1000}…/);
    assert.ok(String(text).length < 1_500);
  }
});

test("a missing program fails like any other", async (t) => {
  const { partition, exportOne, log } = await anExport(t, "exit 0");
  await exportOne({ program: "/nowhere/export" });
  assert.equal(log.all.at(-1)?.["why"], "/nowhere/export does not run: ENOENT");
  assert.equal(await isThere(db, partition), true);
});

test("a program without free descriptors fails like any other, and the service continues", async (t) => {
  const { partition, exportOne, log } = await anExport(t, "exit 0");
  const spawn = t.mock.method(childProcess, "spawn", () => {
    const child = new childProcess.ChildProcess(); // Node.js returns it like this, without streams and id.
    process.nextTick(() => child.emit("error", Object.assign(new Error(), { code: "EMFILE" })));
    return child;
  });
  syncBuiltinESMExports();
  t.after(() => {
    spawn.mock.restore();
    syncBuiltinESMExports();
  });
  await exportOne();
  assert.match(String(log.all.at(-1)?.["why"]), /does not run: EMFILE$/);
  assert.equal(await isThere(db, partition), true);
});

test("an environment that the system refuses fails like any other program", async (t) => {
  const { partition, clock, command, logger, log } = await anExport(t, "exit 0");
  const env = { ...command.env, LONG: "x".repeat(2 ** 22) };
  const options = { log: logger, onError, signal: new AbortController().signal };
  await exportNext({ db, clock }, { ...command, env }, options);
  assert.match(String(log.all.at(-1)?.["why"]), /does not run: E2BIG$/);
  assert.equal(await isThere(db, partition), true);
});

test("a lease is not renewed after a fault in the run", async (t) => {
  const { exportOne } = await anExport(t, "exit 0");
  const renewMs = 54_321;
  const begun = t.mock.method(globalThis, "setInterval");
  const ended = t.mock.method(globalThis, "clearInterval");
  await assert.rejects(exportOne({ renewMs, limitMs: -1 }), RangeError);
  const timer = begun.mock.calls.find((call) => call.arguments[1] === renewMs)?.result;
  assert.ok(timer && ended.mock.calls.some((call) => call.arguments[0] === timer));
});

test("a program that takes too long is ended with all its children", async (t) => {
  const { partition, folder, exportOne, log } = await anExport(
    t,
    'sleep 600 & echo $! > "$1/child"; wait',
  );
  await exportOne({ limitMs: 200 });
  assert.equal(log.all.at(-1)?.["why"], "took longer than 200 ms");
  assert.equal(await isThere(db, partition), true);
  const child = Number(await readFile(join(folder, "child"), "utf8").catch(() => "0"));
  if (child > 0) assert.ok(await hasEnded(child));
});

test("the log gets only the end of a long output", async (t) => {
  const { exportOne, log } = await anExport(t, "seq 100000; exit 1");
  await exportOne();
  const output = String(log.all.at(-1)?.["output"]);
  assert.equal(output.length, 4096);
  assert.ok(output.endsWith("99999\n100000\n"));
});

test("a stop ends the program without a failure, and another process may start it at once", async (t) => {
  const { partition, folder, exportOne, log, stopping, problem, clock } = await anExport(
    t,
    'mkfifo "$1/on"; echo > "$1/on"; sleep 600',
  );
  const running = exportOne();
  await untilFifo(join(folder, "on"));
  stopping.abort();
  assert.equal(await running, true);
  assert.match(String(log.all.at(-1)?.["msg"]), /was interrupted/);
  assert.equal(await problem(), undefined);
  assert.equal(await isThere(db, partition), true);

  const [row] =
    await db`select from history_exports where lease_id is null and next_at <= ${clock()}`;
  assert.ok(row);
});

test("one of two processes exports, and the other finds nothing to export", async (t) => {
  const { partition, folder, exportOne } = await anExport(t, HELD);
  const first = exportOne();
  await untilFifo(join(folder, "on"));
  assert.equal(await exportOne(), false);
  await writeFile(join(folder, "on"), "once\n");
  assert.equal(await first, true);
  assert.equal(await readFile(join(folder, "runs"), "utf8"), "once\n");
  assert.equal(await isThere(db, partition), false);
});

test("an export of a dead process is repeated after its lease, and its late success drops nothing", async (t) => {
  const { partition, folder, exportOne, clock, write, log } = await anExport(t, HELD);
  const first = exportOne();
  await untilFifo(join(folder, "on"));
  clock.advance(EXPORT_LEASE_MS);
  await write("exit 0");
  assert.equal(await exportOne(), true);
  assert.equal(await isThere(db, partition), false);
  await writeFile(join(folder, "on"), "go\n");
  await first;
  assert.match(String(log.all.at(-1)?.["msg"]), /exported but not dropped/);
});

test("a lease is renewed while the program runs, and a lost one ends it", async (t) => {
  const { partition, folder, exportOne, clock, log } = await anExport(t, HELD);
  const first = exportOne({ renewMs: 5 });
  await untilFifo(join(folder, "on"));
  clock.advance(EXPORT_LEASE_MS - 1);
  for (let isRenewed = false; !isRenewed;) {
    const until = new Date(clock().getTime() + EXPORT_LEASE_MS);
    isRenewed = (await db`select from history_exports where next_at = ${until}`).length === 1;
  }
  await db`update history_exports set lease_id = gen_random_uuid()`;
  await first;
  assert.match(String(log.all.at(-1)?.["msg"]), /was interrupted/);
  assert.equal(await isThere(db, partition), true);
});

test("the program gets the database in libpq's variables, and the cell's name", async (t) => {
  const { partition, folder, clock, command, logger } = await anExport(
    t,
    'echo "$PGHOST $PGDATABASE $PARTNER_API_CELL" > "$1/environment"',
  );
  const url = "postgres://u:p@db.example/partner";
  const options = { url, cell: "a1", retentionMs: 60_000, log: logger, onError };
  const stop = startExporting({ db, clock }, { command, ...options }); // A run takes a second.
  t.after(stop);
  while (await isThere(db, partition)) await sleep(20);
  assert.equal(await readFile(join(folder, "environment"), "utf8"), "db.example partner a1\n");
});

/** Reads the line that the program writes when it is ready. */
async function untilFifo(path: string): Promise<void> {
  for (;;) {
    const line = await readFile(path, "utf8").catch(() => null);
    if (line !== null) return;
    await sleep(5);
  }
}

/** Returns true if there is no such process, or only its remains. */
async function hasEnded(pid: number): Promise<boolean> {
  for (;;) {
    const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
    if (state === null || state.includes(") Z ")) return true;
    await sleep(5);
  }
}
