import type { Database } from "../../src/postgres/database.ts";
import { TEST_EVENT } from "../../src/subjects/events/rules.ts";
import type { Subscription } from "./partners.ts";
import { timeOrderedId } from "./queue.ts";

const ROWS_MAX = 100_000;
const SPAN_MS = 25 * 86_400_000;

/**
 * Fills the audit with failures of one subscription over the past weeks. Returns the cursor of the
 * last page of that size.
 */
export async function fillAudit(
  db: Database,
  { id }: Subscription,
  count: number,
  page: number,
): Promise<string> {
  const since = new Date(Date.now() - SPAN_MS);
  const intervalMs = SPAN_MS / count;
  const starts = Array.from({ length: Math.ceil(count / ROWS_MAX) }, (_, n) => n * ROWS_MAX);
  const fillOn = async () => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const last = Math.min(count, start + ROWS_MAX) - 1;
      await db`
        insert into attempts
               (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, dead_lettered,
                duration_ms, attempted_at, next_attempt_at)
        select ${timeOrderedId(db)}, gen_random_uuid(), ${id}, gen_random_uuid(), ${TEST_EVENT}, 1, 503, 'http_503', false,
               41, at, at + interval '1 minute'
          from generate_series(${start}::int, ${last}::int) as n
         cross join lateral (select ${since}::timestamptz + n * ${intervalMs}::float8 * interval '1 ms') as time (at)`;
    }
  };
  await Promise.all([fillOn(), fillOn()]); // On both cores.
  await db`analyze attempts`;

  const [row] = await db<{ id: string }[]>`
    select id from attempts where subscription_id = ${id} and reason is not null order by id offset ${page} limit 1`;
  if (row === undefined) throw new Error("the audit has only one page");
  return row.id;
}
