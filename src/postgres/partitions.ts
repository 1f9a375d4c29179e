import type { Database, Queryable } from "./database.ts";

/** Makes the partitions for the time around `now`. */
export async function createPartitions(db: Queryable, now: Date): Promise<void> {
  await db`select create_partitions(${now})`;
}

/** Drops history older than the retention, and answers how many partitions that were. Never waits long for a lock. */
export async function dropExpiredPartitions(db: Database, now: Date): Promise<number> {
  return db.begin(async (tx) => {
    await tx`set local lock_timeout = '2s'`;
    const [row] = await tx<[{ dropped: number }]>`
      select drop_expired_partitions(${now}) as dropped`;
    return row.dropped;
  });
}
