import { randomUUID } from "node:crypto";
import { timeOrderedId } from "../src/lib/ids.ts";
import { arrayText } from "../src/postgres/array-text.ts";
import type { Database } from "../src/postgres/database.ts";
import { NO_SLOTS } from "../src/subjects/events/publication.ts";
import { publishAtOnce } from "../src/subjects/events/publish.ts";
import type { NewEvent } from "../src/subjects/events/rules.ts";
import type { Rig } from "./support/rig.ts";
import { atLeast, atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { median } from "./support/statistics.ts";

const TYPE = "order.created";
const DATA = JSON.stringify({ order_id: "ord_1042", note: "x".repeat(200) });
const FAN_OUTS = [1, 100, 1_000];
const BATCH = 100;
const AT_MOST = { must: 1.5, aim: 1.2, unit: "×" } as const;

/** The publishing statements against plain inserts of the same rows, on one connection, in turn. */
export const publish: Scenario = {
  name: "publish",
  run: async (rig) => {
    const { db } = await rig.stage([]);
    await db`insert into event_types (name, added_at) values (${TYPE}, ${new Date()})`;
    const organizations = new Map<number, string>();
    for (const count of [0, ...FAN_OUTS]) organizations.set(count, await subscribers(db, count));
    const of = (count: number) => organizations.get(count) ?? "";
    await db`analyze`; // As autovacuum does. Without statistics, a plan does not know how many subscriptions there are.

    const rows: Row[] = [];
    for (const count of FAN_OUTS) {
      const times = await compare(rig, {
        ours: () => publishOurs(db, [{ organizationId: of(count), type: TYPE, data: DATA }]),
        plain: () => insertPlainly(db, of(count), { events: 1, deliveries: count, keys: 0 }),
      });
      rows.push(atMost(`publish, fan-out to ${count}`, AT_MOST, { ...times }));
    }

    const { value, measured } = await compare(rig, {
      ours: () =>
        publishOurs(
          db,
          Array.from({ length: BATCH }, () => keyed(of(0))),
        ),
      plain: () => insertPlainly(db, of(0), { events: BATCH, deliveries: 0, keys: BATCH }),
    });
    const share = { must: 0.5, aim: 0.7, unit: "×" } as const;
    rows.push(
      atLeast(`publish, batches of ${BATCH} with keys`, share, { value: 1 / value, measured }),
    );

    const byFunction = await compare(rig, {
      ours: () => db`
        select partner_api_publish(${`org_${of(1)}`}, ${TYPE}, ${DATA}::jsonb, ${randomUUID()}::text)`,
      plain: () => insertPlainly(db, of(1), { events: 1, deliveries: 1, keys: 1 }),
    });
    return [...rows, atMost("publish, SQL function", AT_MOST, byFunction)];
  },
};

/** Returns the median milliseconds of each, measured in turn. */
async function compare(
  rig: Rig,
  { ours, plain }: { ours: () => PromiseLike<unknown>; plain: () => PromiseLike<unknown> },
): Promise<{ value: number; measured: string }> {
  const times: Record<"ours" | "plain", number[]> = { ours: [], plain: [] };
  const turns = rig.size(300, 20);
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, run] of [
      ["ours", ours],
      ["plain", plain],
    ] as const) {
      const began = performance.now();
      await run();
      if (turn >= turns / 10) times[name].push(performance.now() - began);
    }
  }
  const [one, other] = [median(times.ours), median(times.plain)];
  const measured = `${one.toFixed(2)} ms, plain insert ${other.toFixed(2)} ms`;
  return { value: one / other, measured };
}

async function publishOurs(db: Database, events: NewEvent[]): Promise<void> {
  const parts = { db, clock: () => new Date(), nudge: () => undefined, reserve: () => NO_SLOTS };
  await publishAtOnce({ ...parts, rules: { leaseMs: 30_000 }, ring: [] } as never, events);
}

function keyed(organizationId: string): NewEvent {
  return { organizationId, type: TYPE, data: DATA, dedupeKey: randomUUID() };
}

/**
 * Inserts the rows of a publish without reading anything. Like any client with events that differ, it sends each column of each
 * event.
 */
export async function insertPlainly(
  db: Database,
  organizationId: string,
  { events, deliveries, keys, data = DATA, requestId }: Inserted,
): Promise<void> {
  const now = new Date();
  const ids = Array.from({ length: events }, () => timeOrderedId(now));
  const ofEach = (value: string | Date) => arrayText(ids.map(() => value));
  const deliveryIds = Array.from({ length: deliveries }, () => timeOrderedId(now));
  const keyTexts = Array.from({ length: keys }, () => randomUUID());
  const subscriptionIds = deliveryIds.map(() => randomUUID());
  const request = requestId
    ? { name: db`, request_id`, values: db`, ${ofEach(requestId)}::text::text[]` }
    : { name: db``, values: db`` };
  await db`
    with event as (
      insert into events (organization_number, id, type, occurred_at, data ${request.name})
      select (select number from organizations where id = ${organizationId}), *
        from unnest(${arrayText(ids)}::text::uuid[], ${ofEach(TYPE)}::text::text[],
                    ${ofEach(now)}::text::timestamptz[], ${ofEach(data)}::text::text[] ${request.values})
    ),
    key as (
      insert into dedupe_keys (organization_id, key, event_id, at)
      select ${organizationId}, key, ${ids[0]}::uuid, ${now}
        from unnest(${arrayText(keyTexts)}::text::text[]) as key
    )
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select id, ${ids[0]}::uuid, subscription_id, ${organizationId}, ${now}
      from unnest(${arrayText(deliveryIds)}::text::uuid[], ${arrayText(subscriptionIds)}::text::uuid[])
           as d (id, subscription_id)`;
}

/** The numbers of rows, and the data of each event and the request that publishes it. */
interface Inserted {
  events: number;
  deliveries: number;
  keys: number;
  data?: string;
  requestId?: string;
}

/** Returns an organization with `count` subscriptions. */
async function subscribers(db: Database, count: number): Promise<string> {
  const id = randomUUID();
  await db`
    insert into organizations (id, slug, rate_limit_per_minute, created_at)
    values (${id}, ${`subscribers-${count}`}, 600, ${new Date()})`;
  await db`
    insert into subscriptions (id, organization_id, url, events, sealed_secret, created_at)
    select gen_random_uuid(), ${id}, 'https://receiver.example/', ${[TYPE]}, ${Buffer.alloc(100)}, ${new Date()}
      from generate_series(1, ${count}::int)`;
  return id;
}
