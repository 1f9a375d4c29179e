import type { Database, Queryable } from "./database.ts";

/** Makes the partitions for the time around `now`. Throws rather than wait long for a lock, see `isInUse`. */
export async function createPartitions(db: Database, now: Date): Promise<void> {
  await turn(db, (tx) => tx`select create_partitions(${now})`);
}

/** Drops history older than the retention, and answers how many partitions that were. Throws as `createPartitions` does. */
export async function dropExpiredPartitions(db: Database, now: Date): Promise<number> {
  const [row] = await turn(
    db,
    (tx) => tx<[{ dropped: number }]>`select drop_expired_partitions(${now}) as dropped`,
  );
  return row.dropped;
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
