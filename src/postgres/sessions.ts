import type { Queryable } from "./database.ts";
import { DELETED_MAX } from "./deletion.ts";

/** Remembers an ended session until its regular expiry. */
export async function insertEndedSession(
  db: Queryable,
  { nonce, endsAt }: { nonce: string; endsAt: Date },
): Promise<void> {
  await db`
    insert into ended_sessions (nonce, ends_at) values (${nonce}, ${endsAt})
        on conflict (nonce) do nothing`;
}

export async function isSessionEnded(db: Queryable, nonce: string): Promise<boolean> {
  const [row] = await db<{ nonce: string }[]>`
    select nonce from ended_sessions where nonce = ${nonce}`;
  return row !== undefined;
}

/** Returns the sessions that ended and have not expired, at most `limit` of them, the last to expire first. */
export async function listEndedSessions(
  db: Queryable,
  { now, limit }: { now: Date; limit: number },
): Promise<{ nonce: string; endsAt: Date }[]> {
  const rows = await db<{ nonce: string; ends_at: Date }[]>`
    select nonce, ends_at from ended_sessions where ends_at > ${now} order by ends_at desc limit ${limit}`;
  return rows.map(({ nonce, ends_at }) => ({ nonce, endsAt: ends_at }));
}

/** Deletes ended sessions that have expired. Returns true if some may be left. */
export async function deleteEndedSessions(db: Queryable, before: Date): Promise<boolean> {
  const { count } = await db`
    delete from ended_sessions
     where nonce in (select nonce from ended_sessions where ends_at < ${before} limit ${DELETED_MAX})`;
  return count === DELETED_MAX;
}
