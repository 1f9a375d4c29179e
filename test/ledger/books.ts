import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../../src/postgres/database.ts";

/** The service's records at the end. Ids are bare UUIDs. */
export interface Books {
  events: string[];
  deliveries: DeliveryEntry[];
  attempts: AttemptEntry[];
  /** Subscriptions that were disabled or deleted. */
  ended: string[];
  /** Events of types that no active subscription has: a busy machine may have disabled it. */
  unwanted: string[];
}

export interface DeliveryEntry {
  id: string;
  event: string;
  subscription: string;
  state: string;
  attempts: number;
}

export interface AttemptEntry {
  delivery: string;
  attempt: number;
  httpStatus: number;
  /** Null for a success. */
  reason: string | null;
  deadLettered: boolean;
  from: number;
  until: number;
}

const POLL_MS = 200;

/** Resolves when no delivery waits, or aborts with the run. */
export async function untilNoneWaits(db: Queryable, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const [row] = await db<{ waiting: number }[]>`
      select count(*)::int as waiting from waiting_deliveries`;
    if (row?.waiting === 0) return;
    await sleep(POLL_MS);
  }
}

export async function readBooks(db: Queryable): Promise<Books> {
  const events = await db<{ id: string }[]>`select id from events`;
  const deliveries = await db<DeliveryEntry[]>`
    select id, event_id as event, subscription_id as subscription, 'waiting' as state, attempts
      from waiting_deliveries
    union all
    select id, event_id, subscription_id, state, attempts from finished`;
  const attempts = await db<AttemptEntry[]>`
    select delivery_id as delivery, attempt, http_status as "httpStatus", reason, dead_lettered as "deadLettered",
           round(extract(epoch from attempted_at) * 1000)::float8 as from,
           round(extract(epoch from attempted_at) * 1000)::float8 + duration_ms as until
      from audit
     order by delivery_id, attempt, id`;
  const ended = await db<{ id: string }[]>`
    select id from subscriptions where auto_disabled_at is not null or deleted_at is not null`;
  const unwanted = await db<{ id: string }[]>`
    select id from events e
     where not exists (
       select from subscriptions s
        where e.type = any (s.events) and s.auto_disabled_at is null and s.deleted_at is null)`;
  return {
    events: events.map(({ id }) => id),
    deliveries,
    attempts,
    ended: ended.map(({ id }) => id),
    unwanted: unwanted.map(({ id }) => id),
  };
}
