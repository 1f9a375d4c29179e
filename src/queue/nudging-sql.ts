import type { Database, Queryable } from "../postgres/database.ts";
import type { Listener } from "../postgres/driver/listener.ts";

/** A channel for each schema, because a database may have several. */
const CHANNEL = "'partner_api_due_' || md5(current_schema())";

/**
 * Notifies every process that listens. Call it outside of transactions that publish, because commits with a nudge queue for
 * one lock of the server. It does not wait for the disk.
 */
export async function sendNudge(db: Queryable, nudge: string): Promise<void> {
  await db`
    select set_config('synchronous_commit', 'off', true),
           pg_notify(${db.unsafe(CHANNEL)}, ${nudge})`;
}

/** Receives the nudges of all processes. Returns null if a pooler makes that impossible. */
export function listenForNudges(
  db: Database,
  onNotification: (nudge: string) => void,
): Listener | null {
  return db.listen({ channel: `select ${CHANNEL} as name`, onNotification });
}
