import { randomId } from "../../src/lib/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { MINUTES_KEPT_MS, SERVICE_SCOPE } from "../../src/subjects/activity/rules.ts";
import { TEST_EVENT, TEST_EVENT_DATA } from "../../src/subjects/events/rules.ts";
import type { Subscription } from "./partners.ts";
import { timeOrderedId } from "./queue.ts";

/** The rows of one statement. Many more would exceed the statement timeout. */
const ROWS_MAX = 50_000;
const DAY_MS = 86_400_000;
const SPAN_MS = 29 * DAY_MS;

/**
 * Fills the history of the last 29 days with finished deliveries of these subscriptions, with their events, failed attempts and
 * activity. Of a hundred deliveries two are dead-lettered after two attempts, and one is cancelled.
 */
export async function fillHistory(
  db: Database,
  subscriptions: readonly Subscription[],
  count: number,
): Promise<void> {
  const ids = subscriptions.map(({ id }) => id);
  const since = new Date(Date.now() - SPAN_MS);
  await onBothCores(range(0, count, ROWS_MAX), (start) =>
    insertDeliveries(db, ids, {
      since,
      stepMs: SPAN_MS / count,
      start,
      end: Math.min(count, start + ROWS_MAX),
    }),
  );
  await db`analyze events, finished_deliveries, attempts`;
  await onBothCores(range(since.getTime(), since.getTime() + SPAN_MS, DAY_MS / 4), (startMs) =>
    insertActivity(db, {
      since: new Date(startMs),
      until: new Date(startMs + DAY_MS / 4),
      period: startMs < since.getTime() + SPAN_MS - MINUTES_KEPT_MS ? "hour" : "minute",
    }),
  );
  await db`analyze activity_hours, activity_minutes`;
}

function range(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, n) => from + n * step);
}

async function onBothCores(parts: number[], work: (part: number) => Promise<unknown>) {
  const left = [...parts];
  const workOff = async () => {
    for (let part = left.shift(); part !== undefined; part = left.shift()) await work(part);
  };
  await Promise.all([workOff(), workOff()]);
}

async function insertDeliveries(
  db: Database,
  ids: string[],
  { since, stepMs, start, end }: { since: Date; stepMs: number; start: number; end: number },
): Promise<void> {
  await db`
    with made as materialized (
      select event_of(i.id) as event_id, delivery_of(i.id, 1) as id, s.id as subscription_id, s.number, s.organization_id,
             o.number as organization_number, at, at + interval '40 ms' as finished_at,
             case when share < 2 then 'dead_lettered' when share < 3 then 'cancelled' else 'delivered' end as state
        from generate_series(${start}::int, ${end - 1}::int) as n
       cross join lateral (
         select date_trunc('milliseconds', ${since}::timestamptz + n * ${stepMs}::float8 * interval '1 ms'),
                (n + n / ${ids.length}) % 100
       ) as t (at, share)
        join unnest(${ids}::uuid[]) with ordinality as w (id, place) on w.place = n % ${ids.length} + 1
        join subscriptions s on s.id = w.id
        join organizations o on o.id = s.organization_id
       cross join lateral (select ${timeOrderedId(db)} as id) as i
    ),
    event as (
      insert into events (id, organization_number, type, occurred_at, data)
      select event_id, organization_number, ${TEST_EVENT}, at, ${TEST_EVENT_DATA} from made order by event_id
    ),
    failed as (
      insert into attempts
             (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, dead_lettered,
              duration_ms, attempted_at, next_attempt_at)
      select ${timeOrderedId(db)}, id, subscription_id, event_id, ${TEST_EVENT}, attempt, 503, 'http_503', attempt = 2,
             20, at, case when attempt = 1 then at end
        from made
       cross join generate_series(1, 2) as attempt
       where state = 'dead_lettered'
    )
    insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, duration_ms, last_reason,
                                     troubled_organization_id)
    select id, finished_at, number,
           case state when 'delivered' then 200 when 'dead_lettered' then 0 else 1 end,
           case state when 'delivered' then 1 when 'dead_lettered' then 2 else 0 end,
           case state when 'delivered' then 35 end,
           case state when 'dead_lettered' then 'http_503' end,
           case when state <> 'delivered' then organization_id end
      from made order by id`;
}

/** The buckets of a busy period's histogram, which span a factor of about 60. */
const BUCKETS = 25;

/** Writes the hours or minutes of activity that the service would have counted, with latencies spread over the buckets. */
async function insertActivity(
  db: Database,
  { since, until, period }: { since: Date; until: Date; period: "hour" | "minute" },
): Promise<void> {
  const spread = (count: string) => db`
    (select coalesce(jsonb_object_agg(10 + bucket, 1 + (${db(count)} - bucket) / ${BUCKETS}::int), '{}')
       from generate_series(1, least(${BUCKETS}::int, ${db(count)})) as bucket)`;
  await db`
    insert into ${db(`activity_${period}s`)}
           (process_id, scope, kind, at, published, requests, rate_limited, succeeded, failed, duration_ms,
            delivered, dead_lettered, cancelled, disabled, reasons, attempt_ms, end_to_end_ms)
    select ${randomId()}::uuid, scope, kind, start, deliveries, case kind when 'organization' then deliveries else 0 end, 0,
           delivered, 2 * dead, 35 * delivered + 40 * dead,
           delivered, dead, deliveries - delivered - dead, 0,
           case when dead > 0 then jsonb_build_object('http_503', 2 * dead) else '{}' end,
           ${spread("tried")}, ${spread("delivered")}
      from (
        select k.scope, k.kind, date_bin(${`1 ${period}`}::interval, finished_at, 'epoch') as start,
               count(*)::int as deliveries, sum(attempts)::int as tried,
               count(*) filter (where state = 'delivered')::int as delivered,
               count(*) filter (where state = 'dead_lettered')::int as dead
          from finished f
         cross join lateral (
           values (${SERVICE_SCOPE}::uuid, 'service'), (f.organization_id, 'organization'),
                  (f.subscription_id, 'subscription')
         ) as k (scope, kind)
         where finished_at >= ${since} and finished_at < ${until}
         group by k.scope, k.kind, start
      ) counted`;
}
