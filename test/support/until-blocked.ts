import type { Database } from "../../src/postgres/database.ts";

/** Resolves when a statement of this database waits for a lock. */
export async function untilBlocked(db: Database): Promise<void> {
  for (let blocked = 0; blocked === 0;) {
    const rows = await db`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    blocked = rows.length;
  }
}
