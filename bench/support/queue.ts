import type { Database, Queryable } from "../../src/postgres/database.ts";
import { TEST_EVENT, TEST_EVENT_DATA } from "../../src/subjects/events/rules.ts";
import type { Subscription } from "./partners.ts";

/** The rows of one statement. Many more would exceed the statement timeout. */
const ROWS_MAX = 100_000;
/** The time between events, as if accepted at 10,000 a second. */
const INTERVAL_MS = 0.1;

/**
 * Puts events into the queue with one delivery each, as if accepted one after the other for the
 * subscriptions in turn. They become visible all at once and are due `dueInMs` after they were
 * accepted.
 */
export async function fillQueue(
  db: Database,
  subscriptions: readonly Subscription[],
  count: number,
  { dueInMs = 0 }: { dueInMs?: number } = {},
): Promise<void> {
  const ids = subscriptions.map(({ id }) => id);
  const since = new Date(Date.now() - count * INTERVAL_MS);
  await db.begin(async (tx) => {
    for (let start = 0; start < count; start += ROWS_MAX) {
      const last = Math.min(count, start + ROWS_MAX) - 1;
      await tx`
        with accepted as (
          select n, date_trunc('milliseconds', ${since}::timestamptz + n * ${INTERVAL_MS}::float8 * interval '1 ms') as at
            from generate_series(${start}::int, ${last}::int) as n
        ),
        new as materialized (
          select ${timeOrderedId(tx)} as event_id, ${timeOrderedId(tx)} as id, s.id as subscription_id,
                 s.organization_id, o.number as organization_number, at, at + ${dueInMs}::float8 * interval '1 ms' as due_at
            from accepted
            join unnest(${ids}::uuid[]) with ordinality as w (id, place) on w.place = n % ${ids.length} + 1
            join subscriptions s on s.id = w.id
            join organizations o on o.id = s.organization_id
        ),
        event as (
          insert into events (id, organization_number, type, occurred_at, data)
          select event_id, organization_number, ${TEST_EVENT}, at, ${TEST_EVENT_DATA} from new order by event_id
        )
        insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
        select id, event_id, subscription_id, organization_id, due_at from new order by id`;
    }
  });
}

/** SQL for a UUIDv7 with the time `at`. */
export function timeOrderedId(db: Queryable) {
  return db`(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
             || '7' || right(gen_random_uuid()::text, 21))::uuid`;
}

/** Counts all deliveries by state. */
export async function countDeliveries(
  db: Database,
): Promise<{ waiting: number; delivered: number; attempts: number }> {
  const [row] = await db<[{ waiting: number; delivered: number; attempts: number }]>`
    select (select count(*) from waiting_deliveries)::int as waiting,
           (select count(*) from finished where state = 'delivered')::int as delivered,
           (select count(*) from audit)::int as attempts`;
  return row;
}
