import { after } from "../../lib/clock.ts";
import { randomId } from "../../lib/ids.ts";
import { deleteEndedSessions } from "../../postgres/expired-rows.ts";
import type { Dependencies } from "../dependencies.ts";
import { type Session, SESSION_MS } from "./rules.ts";

export function beginSession({ clock }: Pick<Dependencies, "clock">): Session {
  return { nonce: randomId(), endsAt: after(clock(), SESSION_MS) };
}

/** The clocks of two processes differ by less. So no process still accepts a session that is forgotten here. */
const MARGIN_MS = 60_000;

/** Forgets ended sessions that have expired, in short statements, until none is left or `signal` aborts. */
export async function forgetEndedSessions(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  signal?: AbortSignal,
): Promise<void> {
  const horizon = after(clock(), -MARGIN_MS);
  while (!signal?.aborted && (await deleteEndedSessions(db, horizon)));
}
