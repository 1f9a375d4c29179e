import type { OrganizationId, ProcessId, SubscriptionId } from "../../lib/ids.ts";
import { arrayText } from "../../postgres/array-text.ts";
import type { Queryable } from "../../postgres/database.ts";
import { type ActivityCounts, type ActivityKind, type Counter, COUNTERS } from "./rules.ts";

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

/** The counts of one process, for one scope and one period. */
interface ActivityRow {
  kind: ActivityKind;
  scope: string;
  at: Date;
  counts: ActivityCounts;
}

/** Rows in one statement. */
export const ROWS_MAX = 1_000;

/** Writes the counts of a process. Overwrites existing rows, because the new counts include the old ones. */
export async function upsertMinutes(
  db: Queryable,
  rows: readonly ActivityRow[],
  processId: ProcessId,
): Promise<void> {
  const sorted = rows.toSorted((a, b) => (a.scope < b.scope ? -1 : 1));
  const counter = (name: Counter) => arrayText(sorted.map(({ counts }) => counts.counters[name]));
  const json = (pick: (counts: ActivityCounts) => ReadonlyMap<string | number, number>) =>
    arrayText(sorted.map(({ counts }) => JSON.stringify(Object.fromEntries(pick(counts)))));
  await db`
    insert into activity_minutes
           (process_id, scope, kind, at, published, requests, rate_limited, succeeded, failed, duration_ms,
            delivered, dead_lettered, cancelled, disabled, reasons, attempt_ms, end_to_end_ms)
    select ${processId}::uuid, *
      from unnest(${arrayText(sorted.map((row) => row.scope))}::text::uuid[],
                  ${arrayText(sorted.map((row) => row.kind))}::text::text[],
                  ${arrayText(sorted.map((row) => row.at))}::text::timestamptz[],
                  ${counter("published")}::text::int[], ${counter("requests")}::text::int[],
                  ${counter("rate_limited")}::text::int[], ${counter("succeeded")}::text::int[],
                  ${counter("failed")}::text::int[], ${counter("duration_ms")}::text::bigint[],
                  ${counter("delivered")}::text::int[], ${counter("dead_lettered")}::text::int[],
                  ${counter("cancelled")}::text::int[], ${counter("disabled")}::text::int[],
                  ${json((c) => c.reasons)}::text::jsonb[], ${json((c) => c.attemptMs)}::text::jsonb[],
                  ${json((c) => c.endToEndMs)}::text::jsonb[])
        on conflict (scope, at, process_id) do update
       set published = excluded.published, requests = excluded.requests, rate_limited = excluded.rate_limited,
           succeeded = excluded.succeeded, failed = excluded.failed, duration_ms = excluded.duration_ms,
           delivered = excluded.delivered, dead_lettered = excluded.dead_lettered, cancelled = excluded.cancelled,
           disabled = excluded.disabled, reasons = excluded.reasons, attempt_ms = excluded.attempt_ms,
           end_to_end_ms = excluded.end_to_end_ms`;
}

/** A scope and a span of time: from `since`, before `until`. */
interface ActivitySpan {
  scope: string;
  since: Date;
  until: Date;
}

/** The sums of one period, and the merged counts of each reason and bucket. */
export interface ActivityPoint extends Record<Counter, number> {
  at: Date;
  reasons: Record<string, number>;
  attemptMs: Record<string, number>;
  endToEndMs: Record<string, number>;
}

/** Returns the periods of the span that have counts, in order of time. */
export async function listActivity(
  db: Queryable,
  { scope, since, until }: ActivitySpan,
  stepMs: number,
): Promise<ActivityPoint[]> {
  const columns = db([...COUNTERS, "reasons", "attempt_ms", "end_to_end_ms"]);
  const part = (table: string) => db`
    select date_bin(${stepMs} * interval '1 ms', at, 'epoch') as at, ${columns}
      from ${db(table)}
     where scope = ${scope} and at >= ${since} and at < ${until}`;
  const counted = db`
    counted as materialized (${part("activity_minutes")} union all ${part("activity_hours")})`;
  const sums = COUNTERS.map((name) => `sum(${name})::float8 as ${name}`).join(", ");
  // Each column by itself, because one grouping of all three takes one and a half times as long.
  const totals = (column: string) => db`
    select at, json_object_agg(key, total) as counts
      from (
        select at, key, sum(value::int) as total
          from counted
         cross join lateral jsonb_each_text(${db(column)})
         group by at, key
      ) summed
     group by at`;
  // Two statements, because the histograms of a week take nearly all of the time.
  const [points, endToEnd] = await Promise.all([
    db<Omit<ActivityPoint, "endToEndMs">[]>`
      with ${counted}
      select s.*, coalesce(r.counts, '{}') as reasons, coalesce(a.counts, '{}') as "attemptMs"
        from (select at, ${db.unsafe(sums)} from counted group by at) s
        left join (${totals("reasons")}) r using (at)
        left join (${totals("attempt_ms")}) a using (at)
       order by s.at`,
    db<{ at: Date; counts: Record<string, number> }[]>`
      with ${counted} ${totals("end_to_end_ms")}`,
  ]);
  const byTime = new Map(endToEnd.map(({ at, counts }) => [at.getTime(), counts]));
  return points.map((point) => ({ ...point, endToEndMs: byTime.get(point.at.getTime()) ?? {} }));
}

/** Returns the sums over the whole span. */
export async function sumActivity(
  db: Queryable,
  { scope, since, until }: ActivitySpan,
): Promise<Record<Counter, number>> {
  const sums = COUNTERS.map((name) => `coalesce(sum(${name}), 0)::float8 as ${name}`).join(", ");
  const part = (table: string) => db`
    select ${db([...COUNTERS])} from ${db(table)}
     where scope = ${scope} and at >= ${since} and at < ${until}`;
  const [row] = await db<[Record<Counter, number>]>`
    select ${db.unsafe(sums)} from (${part("activity_minutes")} union all ${part("activity_hours")}) counted`;
  return row;
}

/** A subscription's recent results, organization and URL. */
export interface RankedSubscription {
  id: SubscriptionId;
  organizationId: OrganizationId;
  slug: string;
  url: string;
  autoDisabledAt: Date | null;
  consecutiveFailures: number;
  succeeded: number;
  failed: number;
  attemptMs: Record<string, number>;
  /** The number that the ranking sorts by. */
  measure: number;
}

/** The order of subscriptions: by number of failures, or by mean duration of an attempt. */
type Ranking = "failing" | "slowest";

/** Returns the subscriptions that rank first since a moment of the last 48 hours. Leaves deleted ones out. */
export async function rankSubscriptions(
  db: Queryable,
  ranking: Ranking,
  { since, limit }: { since: Date; limit: number },
): Promise<RankedSubscription[]> {
  const [measure, fits] =
    ranking === "failing"
      ? [db`sum(failed)`, db`and failed > 0`]
      : [db`sum(duration_ms) / sum(succeeded + failed)`, db`and succeeded + failed > 0`];
  return db<RankedSubscription[]>`
    with ranked as materialized (
      select scope, ${measure} as measure
        from activity_minutes
       where at >= ${since} and kind = 'subscription' ${fits}
       group by scope
       order by measure desc, scope
       limit ${2 * limit} -- Some may be deleted.
    )
    select s.id, s.organization_id as "organizationId", o.slug, s.url, s.auto_disabled_at as "autoDisabledAt",
           s.consecutive_failures as "consecutiveFailures",
           t.succeeded, t.failed, t.attempt_ms as "attemptMs", r.measure::float8 as measure
      from ranked r
      join subscriptions s on s.id = r.scope and s.deleted_at is null
      join organizations o on o.id = s.organization_id
     cross join lateral (
       select coalesce(sum(succeeded) filter (where bucket is null), 0)::float8 as succeeded,
              coalesce(sum(failed) filter (where bucket is null), 0)::float8 as failed,
              coalesce(json_object_agg(bucket, n) filter (where bucket is not null), '{}') as attempt_ms
         from (
           select null as bucket, null::bigint as n, sum(succeeded) as succeeded, sum(failed) as failed
             from activity_minutes where scope = s.id and at >= ${since}
           union all
           select key, sum(value::bigint), null, null
             from activity_minutes, jsonb_each_text(attempt_ms)
            where scope = s.id and at >= ${since}
            group by key
         ) pieces
     ) t
     order by r.measure desc, s.id
     limit ${limit}`;
}

/** An organization's busiest minute, beside its limit. */
export interface NearLimit {
  id: OrganizationId;
  slug: string;
  rateLimitPerMinute: number;
  /** The requests that passed in it. */
  busiestMinute: number;
  /** The requests that were refused since then. */
  rateLimited: number;
}

/** Returns the organizations that came nearest to their rate limit since a moment of the last 48 hours: at least half way. */
export async function rankOrganizations(
  db: Queryable,
  { since, limit }: { since: Date; limit: number },
): Promise<NearLimit[]> {
  return db<NearLimit[]>`
    with peaks as materialized (
      select scope, max(passed)::float8 as busiest_minute, sum(refused)::float8 as rate_limited
        from (
          select scope, at, sum(requests - rate_limited) as passed, sum(rate_limited) as refused
            from activity_minutes
           where at >= ${since} and kind = 'organization' and requests > 0
           group by scope, at
        ) minutes
       group by scope
    )
    select o.id, o.slug, o.rate_limit_per_minute as "rateLimitPerMinute", p.busiest_minute as "busiestMinute",
           p.rate_limited as "rateLimited"
      from peaks p
      join organizations o on o.id = p.scope and o.closed_at is null
     where 2 * p.busiest_minute >= o.rate_limit_per_minute or p.rate_limited > 0
     order by p.busiest_minute / o.rate_limit_per_minute desc, p.rate_limited desc, o.id
     limit ${limit}`;
}
