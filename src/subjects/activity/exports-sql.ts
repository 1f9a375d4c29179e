import type { LeaseId } from "../../lib/ids.ts";
import type { Database, Queryable } from "../../postgres/database.ts";

/** A detached partition that this process exports. */
export interface HistoryExport {
  partition: string;
  /** The name of its schema, quoted where necessary. */
  schema: string;
  leaseId: LeaseId;
}

/**
 * Takes a lease on the detached partition that is next. Returns null if none is, or if another process exports one. Only
 * partitions that the retention still releases count. A partition that the owner has dropped is skipped.
 */
export async function claimExport(
  db: Database,
  { now, leasedUntil }: { now: Date; leasedUntil: Date },
): Promise<HistoryExport | null> {
  return db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('partner-api exports of ' || current_schema()))`;
    for (;;) {
      const claimed = await claimNext(tx, now, leasedUntil);
      if (!claimed) return null;
      const [{ permitted }] = await tx<[{ permitted: boolean }]>`
        select permit_export(${claimed.partition}) as permitted`;
      if (permitted) return claimed;
    }
  });
}

async function claimNext(
  tx: Queryable,
  now: Date,
  leasedUntil: Date,
): Promise<HistoryExport | undefined> {
  const [claimed] = await tx<HistoryExport[]>`
    update history_exports
       set lease_id = gen_random_uuid(), next_at = ${leasedUntil}
     where partition = (
             select partition from history_exports
              where next_at <= ${now} and until <= ${now}::timestamptz - retention()
              order by next_at, until, partition
              limit 1)
       and not exists (select from history_exports where lease_id is not null and next_at > ${now})
    returning partition, quote_ident(current_schema()) as schema, lease_id as "leaseId"`;
  return claimed;
}

/** Returns false if the lease is lost. */
export async function renewExport(
  db: Queryable,
  { partition, leaseId }: HistoryExport,
  leasedUntil: Date,
): Promise<boolean> {
  const { count } = await db`
    update history_exports set next_at = ${leasedUntil}
     where partition = ${partition} and lease_id = ${leaseId}`;
  return count === 1;
}

/** Ends the lease without a result, so that any process may take the partition at once. */
export async function releaseExport(
  db: Queryable,
  { partition, leaseId }: HistoryExport,
  now: Date,
): Promise<void> {
  await db`
    update history_exports set lease_id = null, next_at = ${now}
     where partition = ${partition} and lease_id = ${leaseId}`;
}

/** The longest text of a failure that is stored. */
const FAILURE_LENGTH_MAX = 200;

export async function recordExportFailed(
  db: Queryable,
  { partition, leaseId }: HistoryExport,
  { failure, now, nextAt }: { failure: string; now: Date; nextAt: Date },
): Promise<void> {
  await db`
    update history_exports
       set lease_id = null, next_at = ${nextAt}, failures = failures + 1,
           failing_since = coalesce(failing_since, ${now}),
           last_failure = left(${failure}, ${FAILURE_LENGTH_MAX})
     where partition = ${partition} and lease_id = ${leaseId}`;
}

/** Drops a partition that was exported. Returns false if the lease is lost, or if the retention has become longer. */
export async function dropExported(
  db: Queryable,
  { partition, leaseId }: HistoryExport,
  now: Date,
): Promise<boolean> {
  const [{ dropped }] = await db<[{ dropped: boolean }]>`
    select drop_exported_partition(${partition}, ${leaseId}, ${now}) as dropped`;
  return dropped;
}

/** Returns how many partitions wait for their export, and how many of them failed at the last try. */
export async function countExports(db: Queryable): Promise<{ waiting: number; failing: number }> {
  const [counts] = await db<[{ waiting: number; failing: number }]>`
    select count(*)::int as waiting, count(failing_since)::int as failing from history_exports`;
  return counts;
}

export interface FailingExport {
  partition: string;
  failures: number;
  failingSince: Date;
  lastFailure: string;
}

/** Returns the export that has failed for the longest time. Null if none fails. */
export async function findFailingExport(db: Queryable): Promise<FailingExport | null> {
  const [row] = await db<FailingExport[]>`
    select partition, failures, failing_since as "failingSince", last_failure as "lastFailure"
      from history_exports
     where failing_since is not null
     order by failing_since, partition
     limit 1`;
  return row ?? null;
}
