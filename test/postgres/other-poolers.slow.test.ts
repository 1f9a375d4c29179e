// Depends on: src

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { readUrl } from "../../src/postgres/driver/url.ts";
import { createDatabase, environmentOf } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { answers } from "../support/pgbouncer.ts";
import { ADMIN_TOKEN, runProgram, startProgram } from "../support/program.ts";
import { eventIdOf, startLocalReceiver } from "../support/receiver.ts";
import { requireProgram, skipOrFail } from "../support/required.ts";
import { aPartner, aRig, call } from "../support/rig.ts";
import { status } from "../support/receiver-scripts.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const PGLITE = ["@electric-sql/pglite@0.5.14", "@electric-sql/pglite-socket@0.2.17"];

/** A program that accepts connections at a port, until the test ends. */
async function aPooler(
  t: TestContext,
  port: number,
  [program = "", ...args]: string[],
  cwd: string,
) {
  const child = spawn(program, args, { cwd, stdio: "ignore" });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGINT");
    await ended;
  });
  while (!(await answers(port))) {
    assert.equal(child.exitCode, null, `${program} ended`);
    await delay(50);
  }
}

/** Returns the URLs for the service and for the owner through Pgpool-II, without the mode. */
async function startPgpool(t: TestContext, settings: Record<string, string | number> = {}) {
  const db = await createDatabase();
  const { host = "", port = 5432 } = db.options.addresses[0] ?? {};
  const { DATABASE_URL = "", MIGRATION_DATABASE_URL = "" } = environmentOf(db);
  const { user: superuser } = readUrl(MIGRATION_DATABASE_URL);
  const folder = await aTemporaryFolder(t);
  await chmod(folder, 0o755);
  const listen = await freePort();
  const lines = Object.entries({
    ...{ backend_clustering_mode: "streaming_replication", sr_check_user: superuser },
    ...{ backend_hostname0: host, backend_port0: port, backend_weight0: 1 },
    ...{ listen_addresses: "127.0.0.1", port: listen, pcp_port: await freePort() },
    ...{ socket_dir: folder, pcp_socket_dir: folder, wd_ipc_socket_dir: folder, logdir: folder },
    ...{ pid_file_name: join(folder, "pid"), enable_pool_hba: "off", pool_passwd: "" },
    ...{ num_init_children: 60, max_pool: 2 },
    ...settings,
  });
  const file = join(folder, "pgpool.conf");
  await writeFile(file, lines.map(([name, value]) => `${name} = '${value}'\n`).join(""));
  await aPooler(t, listen, ["pgpool", "-n", "-f", file, "-F", file], folder);
  const through = (url: string) => {
    const { user, database } = readUrl(url);
    return `postgres://${user}@127.0.0.1:${listen}/${database}`;
  };
  return { service: through(DATABASE_URL), owner: through(MIGRATION_DATABASE_URL) };
}

/** The main path of the service through a pooler, from migrations to a retry, a change of both kinds of ids and a stop. */
async function assertServes(
  t: TestContext,
  { service, owner }: { service: string; owner: string },
) {
  const ways = { DATABASE_URL: service, MIGRATION_DATABASE_URL: owner };
  const migrated = await runProgram(["migrate"], ways);
  assert.equal(migrated.status, 0, migrated.stderr);
  const rig = { ...(await aRig(t)), ...ways, RETRY_DELAYS: "50ms" };
  const program = await startProgram(t, rig);
  const receiver = await startLocalReceiver(t);
  const partner = await aPartner(program, "acme");
  const subscription = await partner.subscribe(receiver.url("/hooks"));
  receiver.answer(status(500), status(204));
  const { body: accepted } = await partner.ping(subscription);
  for (let attempt = 1; attempt <= 2; attempt++)
    assert.equal(eventIdOf(await receiver.next()), accepted["event_id"]);
  const { body: audit } = await partner.ask(`/webhooks/${subscription.id}/failures`);
  assert.equal((audit["items"] as object[]).length, 1);

  const pings = await Promise.all(Array.from({ length: 50 }, () => partner.ping(subscription)));
  const sent = pings.map(({ body }) => String(body["event_id"])).sort();
  const arrived: string[] = [];
  while (arrived.length < 50) arrived.push(eventIdOf(await receiver.next()));
  assert.deepEqual(arrived.sort(), sent);

  const admin = `${program.operatorUrl}/api/v1/admin`;
  const overview = await call(`${admin}/overview?window=1h`, { token: ADMIN_TOKEN });
  assert.equal(overview.body["status"], "ok", JSON.stringify(overview.body));
  const doctor = await runProgram(["doctor"], rig);
  assert.match(doctor.stdout, /^ok +database +PostgreSQL/m, doctor.stdout);
  assert.equal(await program.end("SIGTERM"), 0, program.complaint());
}

for (const mode of ["", "?pool_mode=session"]) {
  test(`Pgpool-II serves the service, URLs with ${mode || "no pool_mode"}`, async (t) => {
    if (!(await requireProgram(t, "pgpool", ["--version"]))) return;
    const { service, owner } = await startPgpool(t);
    await assertServes(t, { service: service + mode, owner: owner + mode });
  });
}

test("PGlite's socket serves the service in transaction mode", async (t) => {
  const folder = await aTemporaryFolder(t);
  await writeFile(join(folder, "package.json"), "{}");
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  try {
    await execute("npm", ["install", ...flags, ...PGLITE], { cwd: folder });
  } catch (error) {
    skipOrFail(t, `npm cannot install PGlite: ${(error as Error).message}`);
    return;
  }
  const port = await freePort();
  const server = "node_modules/@electric-sql/pglite-socket/dist/scripts/server.js";
  const args = [server, `--port=${port}`, "--max-connections=100"];
  await aPooler(t, port, [process.execPath, ...args], folder);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres?pool_mode=transaction`;
  await assertServes(t, { service: url, owner: url });
});
