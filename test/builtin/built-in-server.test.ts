import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chown,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { connect, type Database } from "../../src/postgres/database.ts";
import { homeFolder, startEmbedded } from "../../src/builtin/index.ts";
import { isRunning, readPostmaster } from "../../src/builtin/keeper/processes.ts";

// For root, a folder that the server's account cannot enter.
const scratch = await realpath(await mkdtemp(join(tmpdir(), "embedded-")));

const dataDir = join(scratch, "data");
const dataFolder = join(homeFolder(dataDir), "data");
const children = new Set<ChildProcess>();
const logged: string[] = [];
const log = (message: string) => logged.push(message);

after(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of [homeFolder(dataDir), homeFolder(otherDataDir)]) {
    const left = readPostmaster(join(folder, "data"));
    if (left && isRunning(left, join(folder, "data"))) process.kill(left.pid, "SIGQUIT");
    await rm(folder, { recursive: true, force: true });
  }
  await rm(scratch, { recursive: true, force: true });
});

function assertCreated(home: string): void {
  const said = logged.splice(0).map((message) => message.replace(/ in \d+\.\d s$/, " in … s"));
  const created = [`creating a database in ${home}`, `created a database in ${home} in … s`];
  assert.deepEqual(said, created);
}

test("a first start creates a durable database that only its own account and root can reach", async () => {
  const server = await startEmbedded({ dataDir, log });
  assertCreated(homeFolder(dataDir));

  const sql = connect(server.url, { max: 1, name: "test" });
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums',
                    'server_encoding', 'TimeZone', 'listen_addresses', 'unix_socket_directories')`;
  const { unix_socket_directories: socketFolder = "", ...settings } = Object.fromEntries(
    rows.map(({ name, setting }) => [name, setting]),
  );
  assert.deepEqual(settings, {
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    data_checksums: "on",
    server_encoding: "UTF8",
    TimeZone: "UTC",
    listen_addresses: "",
  });
  const [row] = await sql`select current_user as role, current_database() as database`;
  assert.deepEqual({ ...row }, { role: "partner", database: "partner" });
  assert.equal((await stat(socketFolder)).mode & 0o777, 0o700);

  await sql`create table kept (n integer)`;
  await end(sql);
  await server.stop();
});

test("without processes the server stops, and a connection fails instead of hanging", async () => {
  assert.equal(serverPid(), null);
  const server = await startEmbedded({ dataDir, log });
  await server.stop();
  const sql = connect(server.url, { max: 1, name: "test" });
  await assert.rejects(async () => sql`select 1`, { code: "ENOENT" });
  await end(sql);
});

test("a second process shares the server, and the last one to stop also stops the server", async () => {
  const first = await startEmbedded({ dataDir, log });
  const second = await attachInChild();
  assert.equal(second.url, first.url);

  await first.stop();
  await query(second.url, (sql) => sql`insert into kept values (1)`);
  await second.stop();
  assert.equal(serverPid(), null);
  assert.deepEqual(logged, []);
});

test("a killed process neither keeps the server running nor stops it for others", async () => {
  const first = await startEmbedded({ dataDir, log });
  const [killed, second] = await Promise.all([attachInChild(), attachInChild()]);
  await kill(killed.child, "SIGKILL");
  await second.stop();
  await query(first.url, (sql) => sql`select 1`);
  await first.stop();
  assert.equal(serverPid(), null);
});

test("the server survives Ctrl-C and the death of all processes, and serves the next one", async () => {
  const { child } = await attachInChild();
  const pid = serverPid();
  assert.ok(pid !== null && child.pid !== undefined);
  process.kill(-child.pid, "SIGINT"); // Signals the whole process group, as a terminal does.
  await once(child, "exit");

  const next = await startEmbedded({ dataDir, log });
  assert.equal(serverPid(), pid);
  await next.stop();
  assert.equal(serverPid(), null);
});

for (const signal of ["SIGKILL", "SIGQUIT", "SIGTERM"] as const) {
  test(`a server that gets a ${signal} restarts by itself with all committed work`, async () => {
    const first = await startEmbedded({ dataDir, log });
    const second = await attachInChild();
    const sql = connect(first.url, { max: 2, name: "test" });
    await sql`insert into kept values (2)`;
    const [before] = await sql`select count(*)::int as rows from kept`;

    const pid = serverPid();
    assert.ok(pid !== null);
    process.kill(pid, signal);
    await until(() => ![null, pid].includes(serverPid()));
    const count = () => sql`select count(*)::int as rows from kept`;
    const [afterwards] = await until(() => count().catch(() => null));
    assert.deepEqual({ ...afterwards }, { ...before });

    await end(sql);
    await Promise.all([first.stop(), second.stop()]);
    assert.equal(serverPid(), null);
    logged.length = 0;
  });
}

test("a session does not keep a server that gets a SIGTERM from its restart", async () => {
  const server = await startEmbedded({ dataDir, log });
  const pid = serverPid();
  assert.ok(pid !== null);
  const sql = connect(server.url, { max: 1, name: "test" });
  const ended = assert.rejects(sql`select pg_sleep(600)`.execute());
  await until(() => query(server.url, countSleeping));
  process.kill(pid, "SIGTERM");
  await ended;
  await until(() => ![null, pid].includes(serverPid()));
  await sql.end({ timeout: 0 });
  await server.stop();
  logged.length = 0;
});

test("a backend that outlives its killed server does not block the next server", async (t) => {
  const server = await startEmbedded({ dataDir, log });
  const pid = serverPid();
  assert.ok(pid !== null);
  const visible = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (visible === null) t.skip("this user cannot see the folder of a process");

  const sql = connect(server.url, { max: 1, name: "test" });
  const busy = sql`select count(*) from generate_series(1, 1e6) a, generate_series(1, 1e6) b`;
  const ended = assert.rejects(busy.execute(), { code: visible ? "CONNECTION_CLOSED" : "57014" });
  await until(() => query(server.url, countBusy));
  process.kill(pid, "SIGKILL");
  await ended;
  await until(() => ![null, pid].includes(serverPid()));
  await sql.end({ timeout: 0 }); // A connection that is killed during a query ends only in this way.
  await server.stop();
  logged.length = 0;
});

test("a pid that now belongs to another process does not block a start", async () => {
  const { uid, gid } = await stat(dataFolder);
  const asServer = process.getuid?.() === 0 ? { uid, gid, cwd: "/" } : {};
  const stranger = spawn("sleep", ["600"], { ...asServer, stdio: "ignore" });
  children.add(stranger);
  await once(stranger, "spawn");
  const file = join(dataFolder, "postmaster.pid");
  const socketFolder = join(homeFolder(dataDir), "run");
  await writeFile(
    file,
    `${stranger.pid ?? ""}\n${dataFolder}\n1\n5432\n${socketFolder}\n\n\nready\n`,
  );
  await chown(file, uid, gid);

  const server = await startEmbedded({ dataDir, log });
  await query(server.url, (sql) => sql`select 1`);
  await server.stop();
  await kill(stranger, "SIGKILL");
});

test("a data folder of another major version is refused with one line", async () => {
  const file = join(dataFolder, "PG_VERSION");
  const version = await readFile(file, "utf8");
  await writeFile(file, "9\n");
  await assert.rejects(startEmbedded({ dataDir, log }), /^Error: .* created by PostgreSQL 9, .*$/);
  await writeFile(file, version);
});

test("a DATA_DIR that cannot be used is refused with one line that names it", async () => {
  const file = join(scratch, "file");
  await writeFile(file, "");
  await assert.rejects(
    startEmbedded({ dataDir: file, log }),
    new RegExp(`^Error: .* ${file}: .*$`),
  );
});

const otherDataDir = join(scratch, "long".repeat(25), "a folder, it's 100% odd");

test("an interrupted first start is repeated by one of two simultaneous processes", async () => {
  const home = homeFolder(otherDataDir);
  const cutOff = attach(otherDataDir);
  await until(async () => (await readdir(home).catch(() => [])).some((f) => f.startsWith("draft")));
  await kill(cutOff, "SIGKILL");

  const servers = await Promise.all(
    [1, 2].map(() => startEmbedded({ dataDir: otherDataDir, log })),
  );
  assertCreated(home);
  for (const { url } of servers) await query(url, (sql) => sql`select 1`);
  await Promise.all(servers.map((server) => server.stop()));
  assert.deepEqual(
    (await readdir(home)).filter((name) => name.startsWith("draft")),
    [],
  );
});

/** The pid of the server, or null if none runs. */
function serverPid(): number | null {
  const seen = readPostmaster(dataFolder);
  return seen && isRunning(seen, dataFolder) ? seen.pid : null;
}

/** A process that has attached. Its `stop` detaches and ends it. */
async function attachInChild() {
  const child = attach(dataDir);
  const [url] = (await once(child, "message")) as [string];
  return {
    child,
    url,
    stop: async () => {
      child.send("stop");
      await once(child, "exit");
    },
  };
}

function attach(folder: string): ChildProcess {
  const module = new URL("../../src/builtin/index.js", import.meta.url).href;
  const script = `
    import { startEmbedded } from ${JSON.stringify(module)};
    const server = await startEmbedded({ dataDir: ${JSON.stringify(folder)}, log: () => {} });
    process.once("message", async () => { await server.stop(); process.disconnect(); });
    process.send(server.url);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.add(child);
  return child;
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await once(child, "exit");
}

async function countSleeping(sql: Database): Promise<number> {
  const rows = await sql`
    select from pg_stat_activity where state = 'active' and query like '%pg_sleep(600)%' and pid <> pg_backend_pid()`;
  return rows.length;
}

async function countBusy(sql: Database): Promise<number> {
  const rows = await sql`
    select from pg_stat_activity where state = 'active' and query like '%generate_series(1, 1e6) a%'
       and pid <> pg_backend_pid()`;
  return rows.length;
}

async function query<T>(url: string, run: (sql: Database) => Promise<T>): Promise<T> {
  const sql = connect(url, { max: 1, name: "test" });
  const result = await run(sql);
  await end(sql);
  return result;
}

function end(sql: Database): Promise<void> {
  return sql.end({ timeout: 5 });
}

/** Waits without a limit and returns the result. */
async function until<T>(look: () => Promise<T> | T): Promise<NonNullable<Exclude<T, false>>> {
  for (;;) {
    const found = await look();
    if (found) return found as NonNullable<Exclude<T, false>>;
    await pause(5);
  }
}
