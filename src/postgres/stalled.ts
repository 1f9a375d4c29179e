import type { Queryable } from "./database.ts";

/**
 * Ends those of our role's own sessions whose process has sent half a statement, to have it prepared, and has stood still
 * since: what their transactions hold, others wait for. To the server such a transaction is not idle. Answers how many.
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
