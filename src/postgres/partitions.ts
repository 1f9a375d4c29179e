import type { Database, Queryable } from "./database.ts";

/** Each in a transaction of its own; before the events, what refers to them. */
const HISTORY = ["finished_deliveries", "attempts", "events", "activity_minutes", "activity_hours"];

/**
 * Makes the partitions for the time around `now`, and moves strays into partitions of their own. Throws rather than wait
 * long for a lock, see `isInUse`. Where `signal` aborts, the next turn does what is left.
 */
export async function createPartitions(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<void> {
  for (const table of HISTORY) {
    await turn(db, (tx) => tx`select create_partitions(${table}, ${now})`);
    await untilNone(db, (tx) => tx<Count>`select move_strays(${table})::int as count`, signal);
  }
}

/**
 * Drops history older than the retention, and returns how many partitions that were. Throws and breaks off as
 * `createPartitions` does.
 */
export async function dropExpiredPartitions(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  let dropped = 0;
  for (const table of HISTORY) {
    dropped += await untilNone(
      db,
      (tx) => tx<Count>`select drop_expired_partitions(${table}, ${now}) as count`,
      signal,
    );
  }
  await untilNone(db, (tx) => tx<Count>`select drop_rolled_up_minutes(${now}) as count`, signal);
  await untilNone(db, (tx) => tx<Count>`select delete_expired_rows(${now}) as count`, signal);
  return dropped;
}

type Count = [{ count: number }];

/** Repeats `work`, each time in a transaction of its own, until there is none left. Returns how much it was. */
async function untilNone(
  db: Database,
  work: (tx: Queryable) => Promise<Count>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let total = 0;
  while (!signal?.aborted) {
    const [{ count }] = await turn(db, work);
    if (count === 0) break;
    total += count;
  }
  return total;
}

/** One process at a time. Others wait behind us while we wait for a table: a backup may hold it for hours. */
async function turn<Rows>(db: Database, work: (tx: Queryable) => Promise<Rows>): Promise<Rows> {
  let rows: Rows | undefined;
  await db.begin(async (tx) => {
    await tx`select lock_partitions()`;
    await tx`set local lock_timeout = '500ms'`;
    rows = await work(tx);
  });
  return rows as Rows;
}
