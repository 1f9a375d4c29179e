import { after } from "../domain/clock.ts";
import { randomId } from "../domain/ids.ts";
import { type Session, SESSION_MS } from "../domain/session.ts";
import { deleteEndedSessions, insertEndedSession, isSessionEnded } from "../postgres/sessions.ts";
import type { Dependencies } from "./dependencies.ts";

export function beginSession({ clock }: Pick<Dependencies, "clock">): Session {
  return { nonce: randomId(), endsAt: after(clock(), SESSION_MS) };
}

/** Ends a session for every process. */
export async function endSession(
  { db }: Pick<Dependencies, "db">,
  session: Session,
): Promise<void> {
  await insertEndedSession(db, session);
}

/** Whether a session was ended before its time. */
export async function wasEnded(
  { db }: Pick<Dependencies, "db">,
  { nonce }: Session,
): Promise<boolean> {
  return isSessionEnded(db, nonce);
}

/** No clock of ours is so far off that a session which another process still accepts is forgotten. */
const MARGIN_MS = 60_000;

/** Forgets sessions that are over, one short statement after another, until there are none or `signal` aborts. */
export async function forgetEndedSessions(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  signal?: AbortSignal,
): Promise<void> {
  const horizon = after(clock(), -MARGIN_MS);
  while (!signal?.aborted && (await deleteEndedSessions(db, horizon)));
}
