import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../src/postgres/database.ts";

/** Resolves when a statement of this database that is `like` this waits for a lock. */
export async function untilBlocked(db: Database, like = "%"): Promise<void> {
  for (let blocked = 0; blocked === 0;) {
    const rows = await db`
      select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like ${like}`;
    blocked = rows.length;
    if (blocked === 0) await sleep(2);
  }
}
