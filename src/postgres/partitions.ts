import type { Database, Queryable } from "./database.ts";

/** Each in a transaction of its own; before the events, what refers to them. */
const HISTORY = ["finished_deliveries", "attempts", "events"];

/** Makes the partitions for the time around `now`. Throws rather than wait long for a lock, see `isInUse`. */
export async function createPartitions(db: Database, now: Date): Promise<void> {
  for (const table of HISTORY)
    await turn(db, (tx) => tx`select create_partitions(${table}, ${now})`);
}

/** Drops history older than the retention, and answers how many partitions that were. Throws as `createPartitions` does. */
export async function dropExpiredPartitions(db: Database, now: Date): Promise<number> {
  let count = 0;
  for (const table of HISTORY) {
    const [row] = await turn(
      db,
      (tx) =>
        tx<[{ dropped: number }]>`select drop_expired_partitions(${table}, ${now}) as dropped`,
    );
    count += row.dropped;
  }
  await turn(db, (tx) => tx`select delete_expired_rows(${now})`);
  return count;
}

/** One process at a time. Whoever wants a table waits behind us while we wait for it: a backup may hold it for hours. */
async function turn<Rows>(db: Database, work: (tx: Queryable) => Promise<Rows>): Promise<Rows> {
  let rows: Rows | undefined;
  await db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('partner-api partitions'))`;
    await tx`set local lock_timeout = '500ms'`;
    rows = await work(tx);
  });
  return rows as Rows;
}
