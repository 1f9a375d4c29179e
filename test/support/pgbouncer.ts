import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect as dial } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type Database } from "../../src/postgres/database.ts";
import { freePort } from "./free-port.ts";
import { environmentOf } from "./database.ts";

/** Runs PgBouncer on loopback in front of a test's database. Returns its URLs, without a `pool_mode`. */
export async function startPgBouncer(
  t: TestContext,
  db: Database,
  settings: Record<string, string>,
): Promise<{ service: string; owner: string }> {
  const { DATABASE_URL = "", MIGRATION_DATABASE_URL = "" } = environmentOf(db);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "pgbouncer-"));
  await chmod(folder, 0o755);
  const file = join(folder, "pgbouncer.ini");
  const lines = Object.entries({
    ...{ listen_addr: "127.0.0.1", listen_port: port, unix_socket_dir: "", auth_type: "any" },
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`);
  const ways = [`service = ${wayOf(DATABASE_URL)}`, `owner = ${wayOf(MIGRATION_DATABASE_URL)}`];
  await writeFile(file, ["[databases]", ...ways, "[pgbouncer]", ...lines, ""].join("\n"));

  // PgBouncer refuses to run as root. The server's own account can enter the folder of its socket.
  const host = db.options.addresses[0]?.host ?? "";
  const owner = host.startsWith("/") ? await stat(host) : { uid: 65_534, gid: 65_534 };
  const isRoot = process.getuid?.() === 0;
  const child = spawn("pgbouncer", [file], {
    stdio: "ignore",
    ...(isRoot && { uid: owner.uid, gid: owner.gid }),
  });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true });
  });
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    await delay(20);
  }
  const through = (user: string, name: string) =>
    `postgres://${encodeURIComponent(user)}@127.0.0.1:${port}/${name}`;
  return { service: through(db.options.user, "service"), owner: through("owner", "owner") };
}

function wayOf(url: string): string {
  const pool = connect(url, { max: 1, name: "test" });
  const { addresses, user, password, database } = pool.options;
  const { host = "127.0.0.1", port = 5432 } = addresses[0] ?? {};
  // A hostile database would end the pooler's idle connections, which no transaction of ours can prevent.
  const connect_query = "set idle_session_timeout = 0";
  return Object.entries({ host, port, user, password, dbname: database, connect_query })
    .flatMap(([name, value]) => (value === "" ? [] : [`${name}='${value}'`]))
    .join(" ");
}

/** Whether something accepts connections at a port of this machine. */
export function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => {
      resolve(false);
    });
  });
}
