import type { Database } from "../../src/postgres/database.ts";
import {
  type Attempt,
  type Delivery,
  emptyState,
  of,
  type State,
  type Subscription,
} from "./state.ts";

/** Reads the state of these organizations from the tables. Throws if a delivery is in two places. */
export async function readState(db: Database, organizations: string[]): Promise<State> {
  const [subscriptions, deliveries, attempts, keys] = await Promise.all([
    readSubscriptions(db, organizations),
    readDeliveries(db, organizations),
    readAttempts(db, organizations),
    readKeys(db, organizations),
  ]);

  const state = emptyState();
  for (const { id, ...subscription } of subscriptions) state.subscriptions[id] = subscription;
  for (const { id, ...delivery } of deliveries) {
    if (id in state.deliveries) throw new Error(`${id} is both waiting and finished`);
    state.deliveries[id] = delivery;
    state.attempts[id] = [];
  }
  for (const { delivery, ...attempt } of attempts) of(state.attempts, delivery).push(attempt);
  for (const { id, ...key } of keys) state.keys[id] = key;
  return state;
}

type Row<Item> = Item & { id: string };

async function readSubscriptions(db: Database, organizations: string[]) {
  return db<Row<Subscription>[]>`
    select id, organization_id as organization, consecutive_failures as failures,
           case when deleted_at is not null then 'deleted'
                when auto_disabled_at is not null then 'disabled'
                else 'active' end as status,
           ${msOf(db, "auto_disabled_at")} as "disabledAt",
           exists (select from subscription_ceilings c where c.subscription_id = id and c.held_at is not null) as held
      from subscriptions
     where organization_id = any(${organizations}::uuid[])`;
}

async function readDeliveries(db: Database, organizations: string[]) {
  return db<Row<Delivery>[]>`
    select id, event_id as event, subscription_id as subscription, 'waiting' as state, attempts, last_reason as reason,
           ${msOf(db, "due_at")} as due, lease_id as lease, ${msOf(db, "leased_until")} as until,
           lost_leases as lost
      from waiting_deliveries
     where ${areOf(db, organizations)}
     union all
    select id, event_id, subscription_id, state, attempts, last_reason, null, lease_id, null, 0
      from finished
      left join cancelled_leases on delivery_id = id
     where ${areOf(db, organizations)}`;
}

async function readAttempts(db: Database, organizations: string[]) {
  return db<(Attempt & { delivery: string })[]>`
    select delivery_id as delivery, attempt as number, http_status as "httpStatus", reason,
           dead_lettered as "deadLettered", ${msOf(db, "attempted_at")} as "startedAt",
           ${msOf(db, "attempted_at")} + duration_ms as "endedAt", ${msOf(db, "next_attempt_at")} as "nextAt"
      from audit
     where ${areOf(db, organizations)}
     order by delivery_id, attempt, id`;
}

async function readKeys(db: Database, organizations: string[]) {
  return db<Row<State["keys"][string]>[]>`
    select organization_id || ' ' || key as id, event_id as event, ${msOf(db, "at")} as at
      from dedupe_keys
     where organization_id = any(${organizations}::uuid[])`;
}

function areOf(db: Database, organizations: string[]) {
  return db`subscription_id in (select id from subscriptions where organization_id = any(${organizations}::uuid[]))`;
}

function msOf(db: Database, column: string) {
  return db`(extract(epoch from ${db(column)}) * 1000)::float8`;
}
