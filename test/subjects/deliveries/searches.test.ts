import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EventId,
  lastDeliveryOf,
  numberedId,
  type OrganizationId,
  type SubscriptionId,
} from "../../../src/lib/ids.ts";
import type { Queryable } from "../../../src/postgres/database.ts";
import {
  countDeliveries,
  type DeliveryFilter,
  searchDeliveries,
} from "../../../src/subjects/deliveries/search-sql.ts";
import type { Delivery } from "../../../src/subjects/deliveries/sql.ts";
import { countMatching, listPassed } from "../../../src/subjects/redeliveries/sql.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { aSubscription, createEngine } from "../../support/engine.ts";

const QUEUE = 50_000;
const FEW = 30;
const LIMIT = 25;

const db = await createDatabase();
const { deps } = await createEngine(db);
const large = await aSubscription(deps);
const small = await aSubscription(deps);
await fill(large, QUEUE / 2, 0);
await fill(small, FEW, QUEUE / 2);
await fill(large, QUEUE / 2, QUEUE / 2 + FEW);
await ownerOf(db)`analyze waiting_deliveries`;

interface Subscription {
  id: SubscriptionId;
  organizationId: OrganizationId;
}

/** Deliveries of as many events, one in each millisecond from `from` on. */
async function fill({ id, organizationId }: Subscription, count: number, from: number) {
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select delivery_of(event, 1), event_of(event), ${id}, ${organizationId}, at
      from generate_series(1, ${count}::int) as n
     cross join lateral (select timestamptz '2026-01-01' + (${from}::int + n) * interval '1 ms' as at) as t
     cross join lateral (
       select (left(first_id_at(at)::text, 13) || substr(gen_random_uuid()::text, 14))::uuid as event
     ) as i`;
}

async function readPage(filter: DeliveryFilter, after: string | null) {
  return db.begin(async (tx) => {
    const before = await rowsRead(tx);
    const { rows, reached } = await searchDeliveries(tx, filter, { after, limit: LIMIT });
    const next = rows.length === LIMIT ? (rows.at(-1)?.id ?? null) : reached;
    return { rows, next, read: (await rowsRead(tx)) - before };
  });
}

/** The number of rows of the queue and the history that this connection has read. */
async function rowsRead(tx: Queryable): Promise<number> {
  const [row] = await tx<{ read: number }[]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables where relname ~ '^(waiting|finished)_deliveries'`;
  assert.ok(row);
  return row.read;
}

/** Returns all matching deliveries, and the maximum of rows that one page read. */
async function allPages(filter: DeliveryFilter, pagesMax = 5) {
  const found: Delivery[] = [];
  let most = 0;
  let after: string | null = null;
  for (let page = 0; page < pagesMax; page++) {
    const { rows, next, read } = await readPage(filter, after);
    most = Math.max(most, read);
    found.push(...rows);
    after = next;
    if (next === null) break;
  }
  return { found, most, isAll: after === null };
}

async function eventOf(subscription: Subscription): Promise<EventId> {
  const [row] = await db<{ event_id: EventId }[]>`
    select event_id from waiting_deliveries where subscription_id = ${subscription.id} order by id limit 1`;
  assert.ok(row);
  return row.event_id;
}

const eventId = await eventOf(small);
const ofSmall = { subscriptionIds: [small.id] };
const ofLarge = { subscriptionIds: [large.id] };
const CASES: [what: string, filter: DeliveryFilter, found: number, readMax: number][] = [
  ["an event", { eventId }, 1, 10],
  ["an event of an organization", { eventId, ...ofSmall }, 1, 10],
  ["a waiting event of a subscription", { eventId, state: "waiting", ...ofSmall }, 1, 10],
  ["an organization with few", ofSmall, FEW, 2_000],
  ["an organization with few that wait", { ...ofSmall, state: "waiting" }, FEW, 2_000],
  ["an organization with both", { subscriptionIds: [small.id, large.id] }, 5 * LIMIT, 2_000],
  ["an event of another organization", { eventId, ...ofLarge }, 0, 10],
  ["an organization with many", ofLarge, 5 * LIMIT, 2_000],
  ["a subscription with many", { ...ofLarge, state: "waiting" }, 5 * LIMIT, 2_000],
  ["waiting ones", { state: "waiting" }, 5 * LIMIT, 2_000],
  ["delivered ones", { state: "delivered" }, 0, 0],
];

for (const [what, filter, count, readMax] of CASES) {
  test(`in a long queue a page of ${what} is found without reading the queue`, async () => {
    const { found, most } = await allPages(filter);
    const ids = found.map(({ id }) => id);
    assert.equal(new Set(ids).size, count);
    assert.deepEqual(ids, ids.toSorted().toReversed());
    assert.ok(most <= readMax, `${most} rows were read for a page`);
  });
}

test("a redelivery is found by its older event", async () => {
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select first_id_at('2026-02-01'), ${eventId}, ${small.id}, ${small.organizationId}, '2026-02-01'`;
  await db`insert into redelivery_marks select first_id_at('2026-02-01'), ${eventId}, ${eventId}`;
  const { found, most } = await allPages({ eventId });
  assert.equal(found.length, 2);
  assert.ok(most <= 10, `${most} rows were read`);
});

test("a finished redelivery is found by its event, as the event's own deliveries are", async () => {
  const event = "01980000-0000-7000-8000-000000000000";
  const [own, other, again] = [
    lastDeliveryOf(event),
    numberedId(new Date()),
    numberedId(new Date()),
  ];
  const mark = { redelivery_id: again, delivery_id: own, event_id: event };
  await db`insert into redelivery_marks ${db(mark)}`;
  const [{ number }] = await db<[{ number: number }]>`
    select number from subscriptions where id = ${small.id}`;
  for (const id of [own, other, again]) {
    const how = { ending: 1, attempts: 0, troubled_organization_id: small.organizationId };
    const row = { id, finished_at: new Date(), subscription_number: number, ...how };
    await db`insert into finished_deliveries ${db(row)}`;
  }
  const { found, most } = await allPages({ eventId: event, state: "cancelled" });
  assert.deepEqual(
    found.map((one) => [one.id, one.eventId]),
    [again, own].map((id) => [id, event]),
  );
  assert.ok(most <= 10, `${most} rows were read`);
  await ownerOf(db)`delete from finished_deliveries`;
});

const HISTORY = 20_000;
const RARE = 40;

/** Finished deliveries, one in each millisecond of February. Every n-th had failed attempts. */
async function finish(
  { id, organizationId }: Subscription,
  state: "delivered" | "dead_lettered",
  {
    count,
    everyMs = 1,
    reason = null,
  }: { count: number; everyMs?: number; reason?: string | null },
) {
  const duration = state === "delivered" ? 1 : null;
  await db`
    insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, duration_ms, last_reason,
                                     troubled_organization_id)
    select (ms || substr(gen_random_uuid()::text, 14))::uuid, at, (select number from subscriptions where id = ${id}),
           ${duration === null ? 0 : 200}, 1, ${duration},
           ${reason}, ${duration === null ? organizationId : null}
      from generate_series(1, ${count}::int) as n
     cross join lateral (select timestamptz '2026-02-01' + n * ${everyMs}::int * interval '1 ms' as at) as t
     cross join lateral (select left(first_id_at(at)::text, 13) as ms) as i`;
}

/** The rest of a job's filter. */
const JOB: Omit<Parameters<typeof countMatching>[1], "organizationId"> = {
  ...{ subscriptionId: null, deliveryState: null, reason: null, eventId: null, eventType: null },
  ...{ since: null, until: null, createdAt: new Date("2027-01-01") },
};

test("pages and jobs of a subscription are exact within the seconds of their bounds", async () => {
  const quick = await aSubscription(deps);
  await finish(quick, "delivered", { count: 3_000 });
  const [since, until] = [
    new Date("2026-02-01T00:00:00.500Z"),
    new Date("2026-02-01T00:00:02.250Z"),
  ];
  const filter = { subscriptionIds: [quick.id], since, until };
  const ids = (await allPages(filter, 100)).found.map(({ id }) => id);
  assert.equal(ids.length, 1_750);
  assert.deepEqual(ids, [...new Set(ids)].toSorted().toReversed());
  assert.equal((await countDeliveries(db, filter)).counts.delivered, 1_750);

  const { id: subscriptionId, organizationId } = quick;
  const job = { ...JOB, organizationId, since, until };
  const place = { subscriptionId, state: "delivered", after: null } as const;
  const first = await listPassed(db, job, place);
  const rest = await listPassed(db, job, { ...place, after: first.at(-1)?.id ?? null });
  assert.deepEqual(
    [...first, ...rest].map(({ id }) => id),
    ids.toReversed(),
  );
  const owners = { subscriptionIds: [quick.id], states: ["delivered" as const] };
  assert.equal((await countMatching(db, job, owners)).count, 1_750);
  await ownerOf(db)`delete from finished_deliveries`;
});

test("the seconds of ids rise until 2106", async () => {
  const moments = ["1970-01-01Z", "2026-11-29 00:00:00.999Z", "2106-02-07 06:28:15.999Z"];
  const rows = await db<{ second: number }[]>`
    select second_of(first_id_at(at)) as second from unnest(${moments}::timestamptz[]) as at`;
  assert.deepEqual(
    rows.map(({ second }) => second + 2 ** 31),
    [0, Date.UTC(2026, 10, 29) / 1000, 2 ** 32 - 1],
  );
});

test("in a long history a search reads a bounded number of rows for each page, and finds everything", async () => {
  await finish(large, "delivered", { count: HISTORY });
  await finish(large, "dead_lettered", { count: RARE, everyMs: 500, reason: "timeout" });
  await finish(small, "delivered", { count: RARE, everyMs: 500, reason: "timeout" });
  await ownerOf(db)`analyze finished_deliveries`;

  const cases: [what: string, filter: DeliveryFilter, found: number, readMax: number][] = [
    ["dead letters of an organization", { ...ofLarge, state: "dead_lettered" }, RARE, 200],
    ["a reason of an organization", { ...ofLarge, reason: "timeout" }, RARE, 3_000],
    ["cancelled ones of an organization", { ...ofLarge, state: "cancelled" }, 0, 200],
    ["dead letters of a reason", { state: "dead_lettered", reason: "timeout" }, RARE, 6_000],
    ["a type that nothing has", { eventType: "order.created" }, 0, 7_000],
    ["a type of an organization", { ...ofLarge, eventType: "order.created" }, 0, 9_000],
    ["a reason that nothing in the queue has", { reason: "tls_error" }, 0, 7_000],
    ["delivered ones of a few", { ...ofSmall, state: "delivered" }, RARE, 200],
  ];
  for (const [what, filter, count, readMax] of cases) {
    const { found, most, isAll } = await allPages(filter, 200);
    assert.ok(isAll, `${what}: it ends`);
    assert.equal(new Set(found.map(({ id }) => id)).size, count, what);
    assert.ok(most <= readMax, `${what}: ${most} rows were read for a page`);
  }
});

test("the count of a redelivery reads a bounded number of rows, and reports if there are more", async () => {
  const { id, organizationId } = await aSubscription(deps);
  await finish({ id, organizationId }, "dead_lettered", { count: 120_000, reason: "timeout" });
  await ownerOf(db)`analyze finished_deliveries`;
  const job = { ...JOB, organizationId, subscriptionId: id };
  const count = async (filter: typeof job) =>
    db.begin(async (tx) => {
      const before = await rowsRead(tx);
      const states = ["dead_lettered", "cancelled"] as const;
      const found = await countMatching(tx, filter, { subscriptionIds: [id], states: [...states] });
      return { ...found, read: (await rowsRead(tx)) - before };
    });
  const rare = await count({ ...job, eventType: "order.created" });
  assert.deepEqual([rare.count, rare.isCut], [0, true]);
  assert.ok(rare.read <= 60_000, `${rare.read} rows were read`);
  const all = await count(job);
  assert.deepEqual([all.count, all.isCut], [50_001, true]);
});
