import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { handleOnce, type EventStore } from "../../src/webhook/handle-once.ts";
import { createDatabase, environmentOf } from "../support/database.ts";
import { ROOT } from "../support/root.ts";

const example = join(ROOT, "examples/postgres-store.mjs");
const { MIGRATION_DATABASE_URL: connectionString = "" } = environmentOf(await createDatabase());
const pool = new pg.Pool({ connectionString });
pool.on("error", () => undefined); // The database is dropped before.
after(() => pool.end());
const store = await aStore();

test("with the PostgreSQL store, ten concurrent processes handle an event once", async () => {
  let times = 0;
  const arrivals = Array.from({ length: 10 }, () =>
    handleOnce({ store, event: { id: "evt_1" }, handle: () => times++ }),
  );
  const outcomes = await Promise.all(arrivals);
  assert.equal(times, 1);
  assert.equal(outcomes.filter((outcome) => outcome === "handled").length, 1);
  const again = await handleOnce({ store, event: { id: "evt_1" }, handle: mustNot });
  assert.equal(again, "duplicate");
});

test("with the PostgreSQL store, failed and lost work is repeated", async () => {
  const event = { id: "evt_2" };
  const failing = handleOnce({ store, event, handle: () => Promise.reject(new Error("no stock")) });
  await assert.rejects(failing, /no stock/);

  assert.equal(await store.add(event.id, "under_way", 60_000), null);
  assert.equal(await handleOnce({ store, event, handle: mustNot }), "under_way");
  await pool.query("update received_events set until = 'epoch' where id = $1", [event.id]);
  assert.equal(await handleOnce({ store, event, handle: () => 0 }), "handled");
});

/** Creates the example store with the table from its comment. */
async function aStore(): Promise<EventStore> {
  const [table = ""] = /create table [^;]*/.exec(readFileSync(example, "utf8")) ?? [];
  await pool.query(table.replaceAll("\n *", "\n"));
  const { createPostgresStore } = (await import(pathToFileURL(example).href)) as {
    createPostgresStore: (pool: pg.Pool) => EventStore;
  };
  return createPostgresStore(pool);
}

function mustNot(): never {
  assert.fail("handled a second time");
}
