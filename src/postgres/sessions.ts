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
