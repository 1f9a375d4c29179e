import type { Queryable } from "./database.ts";

/**
 * Ends sessions of our role whose process sent an incomplete statement and has been silent since. Others wait for the locks of
 * such a transaction, but for the server it is not idle. Returns their number.
 */
export async function endStalled(db: Queryable, forMs: number): Promise<number> {
  const { count } = await db`
    select pg_terminate_backend(pid)
      from pg_stat_activity
     where usename = current_user and datname = current_database()
       and application_name = current_setting('application_name')
       and state = 'active' and wait_event = 'ClientRead'
       and state_change < clock_timestamp() - ${forMs}::int * interval '1 ms'`;
  return count;
}
