import type { Queryable } from "./database.ts";

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
  return db<{ nonce: string; endsAt: Date }[]>`
    select nonce, ends_at as "endsAt" from ended_sessions where ends_at > ${now} order by ends_at desc limit ${limit}`;
}
