import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { createPartitions } from "../../src/jobs/maintenance-sql.ts";
import { connect, type Database } from "../../src/postgres/database.ts";
import { findServer } from "../../src/postgres/server.ts";
import { migrate, writeRetention } from "../../src/schema/migrate.ts";

/** The PostgreSQL server to measure on: the operator's, or a built-in one with production settings. */
export interface Server {
  /** Its version and durability. */
  description: string;
  /** Creates a database with the service's schema. */
  createDatabase: () => Promise<BenchDatabase>;
  close: () => Promise<void>;
}

export interface BenchDatabase {
  url: string;
  db: Database;
  drop: () => Promise<void>;
}

const DAY_MS = 86_400_000;
const RETENTION_MS = 30 * DAY_MS;

export async function openServer(databaseUrl: string | null, folder: string): Promise<Server> {
  if (databaseUrl !== null) return serverAt(databaseUrl, () => Promise.resolve());

  const dataDir = join(folder, "data");
  const remove = () => removeEmbedded(dataDir);
  try {
    const embedded = await startEmbedded({ dataDir, log: () => undefined });
    return await serverAt(embedded.url, () => embedded.stop().finally(remove));
  } catch (error) {
    await remove();
    throw error;
  }
}

async function serverAt(serverUrl: string, stop: () => Promise<void>): Promise<Server> {
  const admin = connect(serverUrl, { max: 1, name: "bench" });
  const close = async () => {
    await admin.end({ timeout: 5 });
    await stop();
  };
  try {
    const { version, fsync, synchronousCommit } = await findServer(admin);
    const description = `${version}, fsync ${fsync}, synchronous_commit ${synchronousCommit}`;
    return { description, createDatabase: () => createDatabase(admin, serverUrl), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function createDatabase(admin: Database, serverUrl: string): Promise<BenchDatabase> {
  const name = `bench_${randomUUID().replaceAll("-", "")}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await admin`create database ${admin(name)}`;
  const db = connect(url.href, { max: 4, name: "bench" });
  const drop = async () => {
    await db.end({ timeout: 5 });
    await admin`drop database if exists ${admin(name)} with (force)`;
  };
  try {
    await migrate(db);
    await writeRetention(db, RETENTION_MS);
    await createHistory(db);
    return { url: url.href, db, drop };
  } catch (error) {
    await drop();
    throw error;
  }
}

/** Creates the partitions of a service that has run for a while. */
async function createHistory(db: Database): Promise<void> {
  const now = Date.now();
  for (let at = now - RETENTION_MS + DAY_MS; at < now; at += DAY_MS) {
    await createPartitions(db, new Date(at));
  }
  await createPartitions(db, new Date(now));
}
