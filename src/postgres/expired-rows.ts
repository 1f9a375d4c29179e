import type { Queryable } from "./database.ts";

/** Expired rows that one statement deletes. More would block other statements for long. */
const DELETED_MAX = 5_000;

/** Deletes dedupe keys that were taken before `horizon`. Returns true if some may be left. */
export async function deleteOldKeys(db: Queryable, horizon: Date): Promise<boolean> {
  return deleteOlder(db, "dedupe_keys", horizon);
}

/** Deletes answers that were kept before `horizon`. Returns true if some may be left. */
export async function deleteOldAnswers(db: Queryable, horizon: Date): Promise<boolean> {
  return deleteOlder(db, "kept_answers", horizon);
}

/** By ctid, so that no plan compares all rows with all that are found. */
async function deleteOlder(db: Queryable, table: string, horizon: Date): Promise<boolean> {
  const { count } = await db`
    delete from ${db(table)}
     where ctid = any(array(
       select ctid
         from ${db(table)}
        where at < ${horizon}
        order by at
        limit ${DELETED_MAX}
          for update skip locked))`;
  return count === DELETED_MAX;
}

/** Deletes ended sessions that have expired. Returns true if some may be left. */
export async function deleteEndedSessions(db: Queryable, before: Date): Promise<boolean> {
  const { count } = await db`
    delete from ended_sessions
     where ctid = any(array(select ctid from ended_sessions where ends_at < ${before} limit ${DELETED_MAX}))`;
  return count === DELETED_MAX;
}

/** Functions of the schema. Each deletes at most a batch of rows that are older than the retention. */
export const EXPIRIES = [
  "delete_expired_marks",
  "delete_expired_leases",
  "delete_expired_reasons",
  "delete_expired_jobs",
  "delete_expired_changes",
] as const;

/** Calls one of them. Returns true if some rows may be left. */
export async function deleteExpired(
  db: Queryable,
  expiry: (typeof EXPIRIES)[number],
  now: Date,
): Promise<boolean> {
  const [{ count }] = await db<[{ count: number }]>`select ${db(expiry)}(${now}) as count`;
  return count > 0;
}
