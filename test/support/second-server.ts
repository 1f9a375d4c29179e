import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import { connect, type Database } from "../../src/postgres/database.ts";

let opened: ReturnType<typeof open> | undefined;

after(async () => {
  await (await opened)?.close();
});

/** An empty database on another PostgreSQL server, which the tests of a file share. */
export async function aSecondServer(t: TestContext): Promise<{ url: string; db: Database }> {
  const server = await (opened ??= open());
  const name = `second_${randomUUID().replaceAll("-", "")}`;
  const admin = connect(server.url, { max: 1, name: "test admin" });
  await admin`create database ${admin(name)}`;
  const url = Object.assign(new URL(server.url), { pathname: name }).href;
  const db = connect(url, { max: 2, name: "test second" });
  t.after(async () => {
    await db.end({ timeout: 1 });
    await admin`alter system reset all`;
    await admin`select pg_reload_conf()`;
    await admin`drop database ${admin(name)} with (force)`;
    await admin.end({ timeout: 1 });
  });
  return { url, db };
}

/** Durability costs time, and nothing here survives the test anyway. */
async function open() {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-api-second-"));
  const settings = { fsync: "off", full_page_writes: "off" };
  const server = await startEmbedded({ dataDir, settings, log: () => undefined });
  const close = async () => {
    await server.stop();
    await removeEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, close };
}
