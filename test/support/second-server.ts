import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeEmbedded, startEmbedded } from "../../src/wiring/built-in-postgres.ts";
import { connect, type Database } from "../../src/postgres/database.ts";

/** An empty database on another PostgreSQL server. */
export async function aSecondServer(t: TestContext): Promise<{ url: string; db: Database }> {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-api-second-"));
  const server = await startEmbedded({ dataDir, log: () => undefined });
  const db = connect(server.url, { max: 2, name: "test second" });
  t.after(async () => {
    await db.end({ timeout: 1 });
    await server.stop();
    await removeEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  });
  return { url: server.url, db };
}
