import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { after, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createPartitions } from "../../src/jobs/maintenance-sql.ts";
import { connect, type Database } from "../../src/postgres/database.ts";
import { migrate, writeRetention } from "../../src/schema/migrate.ts";
import { grantService } from "../../src/schema/rights.ts";
import { ERA } from "./clock.ts";
import { hostileSettings } from "./hostile-settings.ts";
import {
  borrow,
  forget,
  giveBack,
  type Kind,
  type LentDatabase,
  moveTo,
  note,
  renew,
  stateOf,
} from "./lent-databases.ts";

const MIGRATIONS = new URL("../../../src/postgres/migrations/", import.meta.url);
const RETENTION_MS = 30 * 86_400_000;
const OBJECT_IN_USE = "55006";

/**
 * A database with an empty schema, for the service's role. It has rights to rows, and none to alter, drop or
 * rewrite history. It has the partitions for `now`. At the end of the test or file that created it, it is dropped or left to another test.
 */
export async function createDatabase({
  max = 10,
  server = serverUrl(),
  now = ERA,
  isHostile = process.env["TEST_DATABASE_SETTINGS"] === "hostile",
} = {}): Promise<Database> {
  const kind = { server, era: `${now.toISOString().slice(0, 10)}T00:00:00Z` };
  const { lent, owner } = isHostile ? await makeHostile(kind) : await takeOver(kind);
  const { name, password } = lent;
  const url = urlOf(server, name, { username: name, password });
  const db = openPatiently(url, { max, name: "test" });
  databases.set(db, { url, owner, ownersUrl: urlOf(server, name) });
  after(async () => {
    await Promise.all([db, owner].map((pool) => pool.end({ timeout: 1 })));
    if (isHostile || !giveBack(lent)) await drop(lent);
  });
  return db;
}

/** A database of earlier tests that was emptied, or a new one. */
async function takeOver(kind: Kind) {
  for (let lent = borrow(kind); lent !== null; lent = borrow(kind)) {
    const owner = ownersPool(lent);
    if (await renew(owner, lent)) return { lent, owner };
    await owner.end({ timeout: 1 });
    await drop(lent);
  }
  return make(kind);
}

async function make({ server, era }: Kind) {
  const name = `partner_api_test_${randomUUID().replaceAll("-", "")}`;
  const password = randomUUID();
  await withAdmin(server, async (admin) => {
    const template = await makeTemplate(admin, server);
    await clone(admin, name, template);
    await admin.unsafe(`create role ${name} login password '${password}'`);
    await admin`grant ${admin(name)} to current_user`; // Without superuser rights, this allows ending its connections.
  });
  const owner = ownersPool({ server, name });
  if (!era.startsWith(ERA.toISOString().slice(0, 10))) await moveTo(owner, era);
  await grantService(owner, name);
  const lent = { server, era, name, password, fresh: await stateOf(owner) };
  note(lent);
  return { lent, owner };
}

async function drop(lent: LentDatabase): Promise<void> {
  await withAdmin(lent.server, async (admin) => {
    await admin`drop database ${admin(lent.name)} with (force)`;
    await admin`drop role ${admin(lent.name)}`;
  });
  await forget(lent);
}

function ownersPool({ server, name }: Pick<LentDatabase, "server" | "name">): Database {
  return openPatiently(urlOf(server, name), { max: 4, name: "test owner" });
}

/** Its settings hold from the next connection on. */
async function makeHostile(kind: Kind) {
  const { lent, owner } = await make(kind);
  const [{ version }] = await owner<[{ version: string }]>`
    select current_setting('server_version') as version`;
  for (const statement of hostileSettings(lent.name, lent.name, Number.parseInt(version)))
    await owner.unsafe(statement);
  await owner.end({ timeout: 1 });
  return { lent, owner: ownersPool(lent) };
}

interface Known {
  url: string;
  owner: Database;
  ownersUrl: string;
}

const databases = new WeakMap<Database, Known>();

/** A pool that ends with the test. */
export function openPool(
  t: Pick<TestContext, "after">,
  url: string,
  options: Partial<Parameters<typeof connect>[1]> = {},
): Database {
  const pool = connect(url, { max: 1, name: "test", ...options });
  t.after(() => pool.end({ timeout: 1 }));
  return pool;
}

/** The same database for its schema's owner. For operations that the service must not do. */
export function ownerOf(db: Database): Database {
  return known(db).owner;
}

/** The URLs of a test's database for another process: for the service and for the schema's owner. */
export function environmentOf(db: Database): Record<string, string> {
  const { url, ownersUrl } = known(db);
  return { DATABASE_URL: url, MIGRATION_DATABASE_URL: ownersUrl };
}

function known(db: Database): Known {
  const found = databases.get(db);
  if (!found) throw new Error("createDatabase did not make this database");
  return found;
}

const PATIENCE_S = 60;

/** On a busy machine, the next statement of a transaction takes longer than a service would wait for it. */
function openPatiently(url: string, options: Parameters<typeof connect>[1]): Database {
  return connect(url, { ...options, idleInTransactionMs: PATIENCE_S * 1000 });
}

function serverUrl(): string {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url) throw new Error("TEST_DATABASE_URL is not set: run npm test");
  return url;
}

function urlOf(
  server: string,
  database = new URL(server).pathname,
  role?: { username: string; password: string },
): string {
  const url = Object.assign(new URL(server), role);
  url.pathname = database;
  url.searchParams.set("connect_timeout", `${PATIENCE_S}`); // On a busy machine, a connection takes longer than 5 s.
  return url.href;
}

async function withAdmin<Result>(
  server: string,
  work: (admin: Database) => Promise<Result>,
): Promise<Result> {
  const admin = openPatiently(urlOf(server), { max: 1, name: "test admin" });
  try {
    return await work(admin);
  } finally {
    await admin.end({ timeout: 1 });
  }
}

/** The migrated database from which all others are copied. Created once for a server and a schema. */
export async function makeTemplate(admin: Database, server: string): Promise<string> {
  const name = `partner_api_template_${await schemaVersion()}`;
  await admin`select pg_advisory_lock(hashtext('test template'))`;
  const [made] = await admin`
    select from pg_database where datname = ${name} and datistemplate`;
  if (!made) {
    await admin`drop database if exists ${admin(name)}`;
    await admin`create database ${admin(name)}`;
    await fill(urlOf(server, name));
    await admin`alter database ${admin(name)} is_template true`; // The mark of a complete template.
  }
  await admin`select pg_advisory_unlock(hashtext('test template'))`;
  return name;
}

async function fill(url: string): Promise<void> {
  const db = openPatiently(url, { max: 1, name: "test template" });
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

/**
 * A server refuses to copy a database with connections, such as its own vacuum or those of an ending process.
 */
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
