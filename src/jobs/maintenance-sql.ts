import type { Database, Queryable } from "../postgres/database.ts";

/** Each in its own transaction. Tables that refer to events come before events. */
const HISTORY = ["finished_deliveries", "attempts", "events", "activity_minutes", "activity_hours"];

/**
 * Creates the partitions for the time around `now`, and moves strays into their partitions. Throws if a lock is not free soon
 * (see `isInUse`). After `signal` aborts, the next run does the rest.
 */
export async function createPartitions(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<void> {
  for (const table of HISTORY) {
    if (signal?.aborted) return;
    const move = (tx: Queryable) => tx<Count>`select move_strays(${table})::int as count`;
    await exclusively(db, move); // First, because PostgreSQL reads all strays for each new partition, while writers wait.
    await exclusively(db, (tx) => tx`select create_partitions(${table}, ${now})`);
    await untilNone(db, move, signal);
  }
}

/** Drops history older than the retention. Returns the number of partitions. Throws and stops as `createPartitions` does. */
export async function dropExpiredPartitions(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  return endExpired(db, now, signal, (tx, table) => {
    return tx<Count>`select drop_expired_partitions(${table}, ${now}) as count`;
  });
}

/** The same, but detaches the partitions, so that they can be exported before they are dropped. */
export async function detachExpiredPartitions(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  return endExpired(db, now, signal, (tx, table) => {
    return tx<Count>`select detach_expired_partition(${table}, ${now}) as count`;
  });
}

async function endExpired(
  db: Database,
  now: Date,
  signal: AbortSignal | undefined,
  endOne: (tx: Queryable, table: string) => Promise<Count>,
): Promise<number> {
  let ended = 0;
  for (const table of HISTORY) ended += await untilNone(db, (tx) => endOne(tx, table), signal);
  await untilNone(db, (tx) => tx<Count>`select drop_rolled_up_minutes(${now}) as count`, signal);
  await untilNone(db, (tx) => tx<Count>`select delete_expired_rows(${now}) as count`, signal);
  return ended;
}

type Count = [{ count: number }];

/** Repeats `work`, each time in its own transaction, until it returns 0. Returns the sum. */
async function untilNone(
  db: Database,
  work: (tx: Queryable) => Promise<Count>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let total = 0;
  while (!signal?.aborted) {
    const [{ count }] = await exclusively(db, work);
    if (count === 0) break;
    total += count;
  }
  return total;
}

/**
 * One process at a time. It gives up on a table soon, because others queue behind us and a backup may take hours. It gives up on
 * another process, too, because that may stand still. It does so before the server looks for deadlocks, after a second, which
 * might end a request instead.
 */
async function exclusively<Rows>(
  db: Database,
  work: (tx: Queryable) => Promise<Rows>,
): Promise<Rows> {
  let rows: Rows | undefined;
  await db.begin(async (tx) => {
    await tx`set local lock_timeout = '500ms'`;
    await tx`select lock_partitions()`;
    rows = await work(tx);
  });
  return rows as Rows;
}

/**
 * Ends sessions of our role whose process sent an incomplete statement and has been silent since. Others wait for the locks of
 * such a transaction, but for the server it is not idle. Returns their number.
 */
export async function endStalled(db: Queryable, forMs: number): Promise<number> {
  const { count } = await db`
    select pg_terminate_backend(pid)
      from pg_stat_activity
     where usename = current_user and datname = current_database()
       and application_name = current_setting('application_name')
       and state = 'active' and wait_event = 'ClientRead'
       and state_change < clock_timestamp() - ${forMs}::int * interval '1 ms'`;
  return count;
}
