import type { ProcessId } from "../domain/ids.ts";
import { COUNTERS } from "../domain/activity.ts";
import type { Queryable } from "./database.ts";

/** Rows of minutes that one statement turns into hours. */
const MINUTES_MAX = 5_000;

/** Returns true if there are minutes before `horizon`. */
export async function hasMinutesBefore(db: Queryable, horizon: Date): Promise<boolean> {
  const [row] = await db<[{ found: boolean }]>`
    select exists (select from activity_minutes where at < ${horizon}) as found`;
  return row.found;
}

/**
 * Adds the oldest minutes up to hours, in order of scope, beginning at `from`. Returns the scope at which to continue, or null
 * at the end. One statement deletes a minute and writes its hour, so readers, who sum both, count each exactly once. Each call
 * writes rows of its own, named `partId`.
 */
export async function rollUpMinutes(
  db: Queryable,
  { horizon, from, partId }: { horizon: Date; from: string; partId: ProcessId },
): Promise<string | null> {
  const sums = COUNTERS.map((name) => `sum(${name}) as ${name}`).join(", ");
  const [answer] = await db<[{ taken: number; last: string | null }]>`
    with batch as materialized (
      select scope, at, process_id
        from activity_minutes
       where scope >= ${from} and at < ${horizon}
       order by scope, at
       limit ${MINUTES_MAX}
         for update skip locked
    ),
    gone as (
      delete from activity_minutes a
       using batch b
       where a.scope = b.scope and a.at = b.at and a.process_id = b.process_id
      returning a.*
    ),
    hourly as (
      select date_bin('1 hour', at, 'epoch') as hour, gone.* from gone
    ),
    sums as (
      select scope, kind, hour, ${db.unsafe(sums)} from hourly group by scope, kind, hour
    ),
    merged as (
      select scope, hour, what, jsonb_object_agg(name, total) as totals
        from (
          select scope, hour, what, name, sum(n::bigint) as total
            from hourly
           cross join lateral (${countsByName(db)}) each
           group by scope, hour, what, name
        ) totals
       group by scope, hour, what
    ),
    written as (
      insert into activity_hours
             (process_id, scope, kind, at, ${db([...COUNTERS])}, reasons, attempt_ms, end_to_end_ms)
      select ${partId}::uuid, s.*, coalesce(r.totals, '{}'), coalesce(a.totals, '{}'), coalesce(e.totals, '{}')
        from sums s
        left join merged r on r.scope = s.scope and r.hour = s.hour and r.what = 'reasons'
        left join merged a on a.scope = s.scope and a.hour = s.hour and a.what = 'attempt_ms'
        left join merged e on e.scope = s.scope and e.hour = s.hour and e.what = 'end_to_end_ms'
    )
    select count(*)::int as taken, (select scope from batch order by scope desc limit 1) as last from batch`;
  return answer.taken === MINUTES_MAX ? answer.last : null;
}

/** The counts of a row by reason and by bucket. */
function countsByName(db: Queryable) {
  return db`
    select 'reasons' as what, key as name, value as n from jsonb_each_text(reasons)
    union all select 'attempt_ms', key, value from jsonb_each_text(attempt_ms)
    union all select 'end_to_end_ms', key, value from jsonb_each_text(end_to_end_ms)`;
}
