import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { createPartitions } from "../../../src/jobs/maintenance-sql.ts";
import { publicId } from "../../../src/lib/ids.ts";
import { connect, type Queryable } from "../../../src/postgres/database.ts";
import { listenForNudges, sendNudge } from "../../../src/queue/nudging-sql.ts";
import { grantPublisher, PUBLISHER_ROLE } from "../../../src/schema/rights.ts";
import { publishAtOnce } from "../../../src/subjects/events/publish.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { Arrivals } from "../../support/arrivals.ts";
import { column } from "../../support/columns.ts";
import { createDatabase, environmentOf, ownerOf } from "../../support/database.ts";
import { createEngine } from "../../support/engine.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

// Runs before the database is dropped, because it needs the connections.
const cleanUp: (() => Promise<void>)[] = [];
after(async () => {
  for (const step of cleanUp) await step();
});
const db = await createDatabase();
const owner = ownerOf(db);
await grantPublisher(owner);
await createPartitions(db, new Date());
await owner`insert into event_types (name, added_at) values ('order.created', ${new Date()}), ('vc.sneaked', ${new Date()})`;
await owner`insert into event_types (name, added_at, retired_at) values ('order.retired', ${new Date()}, ${new Date()})`;
const { MIGRATION_DATABASE_URL = "" } = environmentOf(db);

/** A service of the platform, whose role may only publish. */
async function aPublisher() {
  const name = `publisher_${randomUUID().replaceAll("-", "")}`;
  const password = randomUUID();
  await owner.unsafe(`create role ${name} login password '${password}' in role ${PUBLISHER_ROLE}`);
  const url = Object.assign(new URL(MIGRATION_DATABASE_URL), { username: name, password }).href;
  const publisher = connect(url, { max: 4, name: "publisher" });
  cleanUp.push(async () => {
    await publisher.end({ timeout: 1 });
    await owner.unsafe(`drop role ${name}`);
  });
  return publisher;
}

const publisher = await aPublisher();

async function anOrganization() {
  const engine = await createEngine(db);
  engine.clock.advance(Date.now() - engine.clock().getTime() + 60_000);
  const { deps } = engine;
  const { id, slug } = await createOrganization(deps, { slug: `o-${randomUUID()}` });
  await db`
    insert into subscriptions (id, organization_id, url, events, sealed_secret, created_at)
    select gen_random_uuid(), ${id}, 'https://receiver.example/hooks', ${["order.created"]}, ${Buffer.alloc(1)}, ${deps.clock()}`;
  const counts = async () => {
    const [row] = await db<[{ events: number; deliveries: number }]>`
      select (select count(*) from events where organization_number = (select number from organizations where id = ${id}))::int as events,
             (select count(*) from waiting_deliveries where organization_id = ${id})::int as deliveries`;
    return [row.events, row.deliveries];
  };
  return { ...engine, id, slug, counts };
}

async function call(
  by: Queryable,
  {
    organization,
    key = null,
    data = { amount: 1 },
  }: { organization: string; key?: string | null; data?: unknown },
): Promise<string> {
  const [row] = await by<[{ id: string }]>`
    select partner_api_publish(organization => ${organization}, type => 'order.created',
                               data => ${JSON.stringify(data)}::jsonb, dedupe_key => ${key}) as id`;
  return row.id;
}

test("an event is published in the publisher's own transaction, or not at all", async () => {
  const { slug, id, counts } = await anOrganization();
  await publisher
    .begin(async (tx) => {
      await call(tx, { organization: slug });
      throw new Error("the publisher's own");
    })
    .catch(() => undefined);
  assert.deepEqual(await counts(), [0, 0]);
  await publisher.begin((tx) => call(tx, { organization: publicId("org", id) }));
  assert.deepEqual(await counts(), [1, 1]);
});

test("an event of the function is stored like one over HTTP, with ids in order of time", async () => {
  const { slug, id } = await anOrganization();
  const before = new Date();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await call(publisher, { organization: slug }));
  assert.deepEqual(ids, ids.toSorted());
  for (const one of ids) assert.match(one, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
  const rows = await db<
    {
      id: string;
      type: string;
      data: string;
      at: Date;
      event_at: Date;
      due_at: Date;
      delivery_at: Date;
    }[]
  >`
    select e.id, e.type, e.data, e.occurred_at as at, moment_of(e.id) as event_at, w.due_at, moment_of(w.id) as delivery_at
      from events e join waiting_deliveries w on w.event_id = e.id
     where w.organization_id = ${id} order by e.id`;
  assert.deepEqual(column(rows, "id"), ids);
  for (const { type, data, at, event_at, due_at, delivery_at } of rows) {
    assert.deepEqual([type, JSON.parse(data)], ["order.created", { amount: 1 }]);
    for (const time of [at, event_at, due_at]) {
      assert.ok(Math.abs(time.getTime() - before.getTime()) < 60_000);
    }
    assert.deepEqual(delivery_at, event_at);
  }
});

test("a duplicate returns the first event's id across HTTP and SQL", async () => {
  const { slug, id, deps, counts } = await anOrganization();
  const first = await call(publisher, { organization: slug, key: "k" });
  assert.equal(await call(publisher, { organization: slug, key: "k" }), first);
  const event = { organizationId: id, type: "order.created", data: "{}", dedupeKey: "k" };
  const [overHttp] = await publishAtOnce({ ...deps, clock: () => new Date() }, [event]);
  assert.deepEqual([overHttp?.eventId, overHttp?.isDuplicate], [first, true]);
  assert.deepEqual(await counts(), [1, 1]);
});

test("a key is new after 24 hours, and a second publisher waits for the first one's commit", async () => {
  const { slug, counts } = await anOrganization();
  const first = await call(publisher, { organization: slug, key: "k" });
  await owner`update dedupe_keys set at = at - interval '24 hours' where key = 'k'`;
  let second: Promise<string> | undefined;
  let again = "";
  await publisher.begin(async (tx) => {
    again = await call(tx, { organization: slug, key: "k" });
    second = call(publisher, { organization: slug, key: "k" });
    await untilBlocked(owner);
  });
  assert.notEqual(again, first);
  assert.equal(await second, again);
  assert.deepEqual(await counts(), [2, 2]);
});

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

test("an invalid event is refused with an explanation", async () => {
  const { slug, counts } = await anOrganization();
  const refused = async (text: string, message: RegExp) =>
    assert.rejects(publisher.unsafe(`select partner_api_publish(${text})`).execute(), {
      code: "22023",
      message,
    });
  for (const organization of [
    "'nobody'",
    "null",
    "'org_x'",
    `'${publicId("org", randomUUID())}'`,
  ]) {
    await refused(`${organization}, 'order.created', '{}'`, /^organization must be/);
  }
  for (const type of [
    "'order.lost'",
    "'order.retired'",
    "'vc.sneaked'",
    "'vc.test.ping'",
    "null",
  ]) {
    await refused(`'${slug}', ${type}, '{}'`, /^type must be/);
  }
  for (const data of ["'[]'", "'1'", "null", "'null'"]) {
    await refused(`'${slug}', 'order.created', ${data}`, /^data must be an object/);
  }
  const text = (bytes: number) => `json_build_object('a', repeat('x', ${bytes - 8}))::jsonb`;
  await refused(`'${slug}', 'order.created', ${text(262_145)}`, /^data must be at most 256 KiB/);
  const deep = (depth: number) => `'${JSON.stringify({ a: nested(depth) })}'`;
  await refused(`'${slug}', 'order.created', ${deep(100)}`, /^data must not nest/);
  for (const number of [
    ...["9007199254740993", "-9007199254740992", "123456789012345.123456", "0.1234567890123456789"],
    ...["1e-400", "4e-324", "1e400", "4503599627370497.25"],
  ]) {
    for (const data of [`{"n": ${number}}`, `{"a": [[1, {"n": ${number}}]]}`]) {
      await refused(`'${slug}', 'order.created', '${data}'`, /^data must hold only numbers/);
    }
  }
  for (const key of ["''", "'a b'", "'ü'", "repeat('k', 256)", "E'a\\n'"]) {
    await refused(`'${slug}', 'order.created', '{}', ${key}`, /^dedupe_key must be/);
  }
  for (const at of [
    "now() + interval '6 minutes'",
    "now() - interval '31 days'",
    "'infinity'",
    "'-infinity'",
  ]) {
    await refused(`'${slug}', 'order.created', '{}', null, ${at}`, /^occurred_at must be/);
  }
  assert.deepEqual(await counts(), [0, 0]);
  const kept =
    '{"n": [9007199254740991, -0, 1.10, 1E2, 0.1, 2.2250738585072014e-308, 5e-324, 0.30000000000000004],' +
    ' "text": "12345678901234567890", "12345678901234567890": 1}';
  for (const data of [text(262_144), deep(99), `'${kept}'`]) {
    await publisher.unsafe(`select partner_api_publish('${slug}', 'order.created', ${data})`);
  }
  assert.deepEqual(await counts(), [3, 3]);
});

test("the publishing role can only publish, and the service's role cannot call the function", async () => {
  const { slug } = await anOrganization();
  for (const statement of [
    "select from events",
    "select from organizations",
    "select from dedupe_keys",
    "delete from waiting_deliveries",
    "select from settings",
    "select from event_types",
  ]) {
    await assert.rejects(publisher.unsafe(statement).execute(), { code: "42501" }, statement);
  }
  await assert.rejects(call(db, { organization: slug }), { code: "42501" });
});

test("a table of the publisher cannot mislead the function", async () => {
  const { slug, counts } = await anOrganization();
  await publisher
    .begin(async (tx) => {
      await tx`create temporary table organizations (id uuid, slug text)`;
      await tx`create temporary table event_types (name text, retired_at timestamptz)`;
      await tx`insert into event_types values ('order.forged', null)`;
      await tx`set local search_path = pg_temp, public`;
      await call(tx, { organization: slug });
      await assert.rejects(
        tx`select public.partner_api_publish(${slug}, 'order.forged', '{}')`.execute(),
        /type must be/,
      );
      throw new Error("undo");
    })
    .catch((error: unknown) => {
      if ((error as Error).message !== "undo") throw error;
    });
  assert.deepEqual(await counts(), [0, 0]);
});

test("the function sends no notification, so its caller's commit does not wait for others", async (t) => {
  const { slug } = await anOrganization();
  const heard = new Arrivals<string>();
  const listener = listenForNudges(db, (nudge) => heard.add(nudge));
  t.after(() => listener?.stop());
  await listener?.listening;
  await call(publisher, { organization: slug });
  await sendNudge(db, "mark");
  assert.equal(await heard.until(([first]) => first), "mark");
});

test("the function writes no delivery for a subscription that is disabled or deleted", async () => {
  const { id, slug, counts } = await anOrganization();
  for (const end of [
    db`auto_disabled_at = ${new Date()}`,
    db`auto_disabled_at = null, deleted_at = ${new Date()}, sealed_secret = null`,
  ]) {
    await db`update subscriptions set ${end} where organization_id = ${id}`;
    await publisher`
      select partner_api_publish(organization => ${slug}, type => 'order.created', data => '{}')`;
  }
  assert.deepEqual(await counts(), [2, 0]);
});
