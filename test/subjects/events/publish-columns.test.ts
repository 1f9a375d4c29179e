import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createPartitions } from "../../../src/jobs/maintenance-sql.ts";
import { publishAtOnce } from "../../../src/subjects/events/publish.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";

const db = await createDatabase();
const owner = ownerOf(db);

/** The tables that publishing writes, each with its column for the event. */
const WRITTEN = { events: "id", dedupe_keys: "event_id", waiting_deliveries: "event_id" };
const TIMES = ["at", "due_at"];

/** Every column of every row that belongs to the event. Ids and times of publishing are shown by the parts that they share. */
async function columnsOf(eventId: string) {
  const found: Record<string, object[]> = {};
  for (const [table, column] of Object.entries(WRITTEN)) {
    const rows = await owner<{ row: Record<string, unknown> }[]>`
      select to_jsonb(t) as row from ${owner(table)} t where ${owner(column)} = ${eventId}`;
    found[table] = rows.map(({ row }) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shown(name, value)])),
    );
  }
  return found;

  function shown(name: string, value: unknown): unknown {
    if (name === "data") return JSON.parse(value as string);
    if (value === eventId) return "the event's id";
    if (name === "id") return (value as string).slice(0, 18) === eventId.slice(0, 18);
    if (TIMES.includes(name)) {
      const ms = Number.parseInt(eventId.replace("-", "").slice(0, 12), 16);
      return new Date(value as string).getTime() - ms;
    }
    return value;
  }
}

test("partner_api_publish writes the same into every column as publishing over HTTP", async () => {
  const { deps } = await createEngine(db);
  const clock = () => new Date();
  await createPartitions(db, clock());
  await owner`insert into event_types (name, added_at) values ('order.created', ${clock()})`;
  const { id: organizationId, slug } = await createOrganization(deps, { slug: "columns" });
  await db`
    insert into subscriptions (id, organization_id, url, events, sealed_secret, created_at)
    values (${randomUUID()}, ${organizationId}, 'https://receiver.example/', ${["order.created"]}, ${Buffer.alloc(1)}, ${clock()})`;
  const occurredAt = new Date(clock().getTime() - 60_000);
  const data = JSON.stringify({ amount: 1, lines: [{ sku: "a" }] });
  const event = { organizationId, type: "order.created", data, occurredAt };

  for (const dedupeKey of ["k", undefined]) {
    const keyed = dedupeKey === undefined ? event : { ...event, dedupeKey };
    const [overHttp] = await publishAtOnce({ ...deps, clock }, [keyed]);
    const first = await columnsOf(overHttp?.eventId ?? "");
    await owner`delete from dedupe_keys`;
    const [row] = await owner<[{ id: string }]>`
      select partner_api_publish(${slug}, 'order.created', ${data}::jsonb, ${dedupeKey ?? null}, ${occurredAt}) as id`;
    assert.deepEqual(await columnsOf(row.id), first);
    const counts = Object.values(first).map((rows) => rows.length);
    assert.deepEqual(counts, [1, dedupeKey === undefined ? 0 : 1, 1]);
  }
});
