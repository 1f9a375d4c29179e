import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { after } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type Database } from "../../src/postgres/database.ts";
import { migrate, writeRetention } from "../../src/postgres/migrate.ts";
import { createPartitions } from "../../src/postgres/partitions.ts";
import { ERA } from "./clock.ts";

const MIGRATIONS = new URL("../../../src/postgres/migrations/", import.meta.url);
const RETENTION_MS = 30 * 86_400_000;
const OBJECT_IN_USE = "55006";

/** A database of one's own with an empty schema, dropped when the test or the file that asked for it is over. */
export async function createDatabase({ max = 10 } = {}): Promise<Database> {
  const server = serverUrl();
  const name = `partner_api_test_${randomUUID().replaceAll("-", "")}`;
  await withAdmin(server, async (admin) => {
    const template = await makeTemplate(admin, server);
    await clone(admin, name, template);
  });

  const db = connect(urlOf(server, name), { max, name: "test" });
  after(async () => {
    await db.end({ timeout: 1 });
    await withAdmin(server, (admin) => admin`drop database ${admin(name)} with (force)`);
  });
  return db;
}

function serverUrl(): string {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url) throw new Error("TEST_DATABASE_URL is not set: run npm test");
  return url;
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

async function withAdmin<Result>(
  server: string,
  work: (admin: Database) => Promise<Result>,
): Promise<Result> {
  const admin = connect(server, { max: 1, name: "test admin" });
  try {
    return await work(admin);
  } finally {
    await admin.end({ timeout: 1 });
  }
}

/** The migrated database of which all others are copies: made once for a server and a schema. */
async function makeTemplate(admin: Database, server: string): Promise<string> {
  const name = `partner_api_template_${await schemaVersion()}`;
  await admin`select pg_advisory_lock(hashtext('test template'))`;
  const [made] = await admin`
    select from pg_database where datname = ${name} and datistemplate`;
  if (!made) {
    await admin`drop database if exists ${admin(name)}`;
    await admin`create database ${admin(name)}`;
    await fill(urlOf(server, name));
    await admin`alter database ${admin(name)} is_template true`; // Says that it is complete.
  }
  await admin`select pg_advisory_unlock(hashtext('test template'))`;
  return name;
}

async function fill(url: string): Promise<void> {
  const db = connect(url, { max: 1, name: "test template" });
  await migrate(db);
  await writeRetention(db, RETENTION_MS);
  await createPartitions(db, ERA);
  await db.end({ timeout: 1 });
}

async function schemaVersion(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir(MIGRATIONS)).sort()) {
    hash.update(await readFile(new URL(name, MIGRATIONS)));
  }
  return hash.digest("hex").slice(0, 16);
}

/** A server refuses to copy a database while anyone is in it, such as its own vacuum or a process on its way out. */
async function clone(admin: Database, name: string, template: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await admin`create database ${admin(name)} template ${admin(template)}`;
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE || tries === 20) throw error;
      await delay(100);
    }
  }
}
