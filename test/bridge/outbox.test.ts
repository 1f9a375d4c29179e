import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import {
  aBridge,
  aFakeService,
  anOutbox,
  aPublishingService,
  checked,
  fillOutbox,
  openSource,
} from "../support/bridge.ts";
import { Rest } from "../../src/bridge/outbox/rest.ts";
import { aStartingPostgres, checkStarting } from "./starting.ts";

const keysOf = ({ events }: { events: Record<string, unknown>[] }) =>
  events.map((event) => event["dedupe_key"]);
const orders = (url: string, further: object = {}) => ({
  name: "orders",
  kind: "outbox",
  url,
  ...further,
});

test("each row of an outbox becomes one event, and is marked when the event is durable", async (t) => {
  const service = await aPublishingService(t);
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 1_200 });
  const bridge = await aBridge(t, { url: service.operatorUrl, sources: [orders(url)] });
  await fillOutbox(db, { first: 1_201, last: 1_300 });
  while ((await open(db)) > 0) await bridge.logged(() => true);

  const published = (await service.published()).map(
    (data) => (JSON.parse(data) as { n: number }).n,
  );
  assert.deepEqual(
    published.toSorted((a, b) => a - b),
    Array.from({ length: 1_300 }, (_, i) => i + 1),
  );
  assert.match(
    (await bridge.get("/metrics")).text,
    /partner_api_bridge_published_total{source="orders"} 1300\n/,
  );
  assert.match(
    (await bridge.get("/metrics")).text,
    /partner_api_bridge_lag_messages{source="orders"} 0\n/,
  );
  assert.equal((await bridge.get("/readyz")).status, 200);
});

test("exactly the rows that the service refuses are set aside with the reason, and the others are published", async (t) => {
  const service = await aPublishingService(t);
  const { db, url } = await anOutbox(t);
  const bad = [3, 77, 500, 501, 999];
  await fillOutbox(db, { last: 1_000, bad });
  await db`update outbox set organization = 'nobody' where id = 10`;
  const bridge = await aBridge(t, { url: service.operatorUrl, sources: [orders(url)] });
  while ((await open(db)) > 0) await bridge.logged(() => true);

  const aside = await db<{ id: string; reason: string }[]>`
    select id::text, set_aside as reason from outbox where set_aside is not null order by outbox.id`;
  assert.deepEqual(
    aside.map(({ id }) => Number(id)),
    [3, 10, 77, 500, 501, 999],
  );
  assert.match(aside[0]?.reason ?? "", /^data\/n must be/);
  assert.match(aside[1]?.reason ?? "", /^organization /);
  assert.equal((await service.published()).length, 994);
  assert.match((await bridge.get("/metrics")).text, /set_aside_total{source="orders"} 6\n/);
});

test("while the service is away no more than the buffer is read, nothing is marked, and afterwards nothing is lost", async (t) => {
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 3_000 });
  const bridge = await aBridge(t, { url: service.url, sources: [orders(url)] });
  await service.until((asked) => asked.length > 30);
  assert.equal(await open(db), 3_000);
  const { text } = await bridge.get("/metrics");
  assert.ok(Number(/held_messages{source="orders"} (\d+)/.exec(text)?.[1]) <= 1_500, text);
  assert.equal((await bridge.get("/readyz")).status, 503);
  isAway = false;
  while ((await open(db)) > 0) await bridge.logged(() => true);
  assert.equal((await bridge.get("/readyz")).status, 200);
});

test("events of one key are published in order, also if requests between them fail", async (t) => {
  let turn = 0;
  const seen = new Map<string, number[]>();
  const service = await aFakeService(t, ({ events }) => {
    if (turn++ % 3 === 1) return { status: 503 };
    if (turn % 7 === 0) return "reset";
    for (const { data, dedupe_key: key } of events) {
      assert.ok(typeof key === "string");
      const { n } = data as { n: number };
      const lane = `k${n % 10}`;
      seen.set(lane, [...(seen.get(lane) ?? []), n]);
    }
    return { status: 202 };
  });
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 2_000 });
  const bridge = await aBridge(t, { url: service.url, sources: [orders(url)] });
  while ((await open(db)) > 0) await bridge.logged(() => true);
  assert.equal(seen.size, 10);
  for (const numbers of seen.values()) {
    assert.equal(numbers.length, 200);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
  }
});

test("an organization whose cell is away holds its keys and no others", async (t) => {
  let isAway = true;
  const published: string[] = [];
  const service = await aFakeService(t, ({ events }) => {
    const organizations = events.map((event) => String(event["organization"]));
    if (isAway && organizations.includes("away")) return { status: 503 };
    published.push(...organizations);
    return { status: 202 };
  });
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 500, keys: 50 });
  await db`update outbox set organization = 'away' where key in ('k7', 'k23')`;
  const bridge = await aBridge(t, { url: service.url, sources: [orders(url)] });
  while ((await open(db)) > 20) await bridge.logged(() => true);
  assert.equal(published.length, 480);
  isAway = false;
  while ((await open(db)) > 0) await bridge.logged(() => true);
  assert.equal(published.length, 500);
});

test("two bridges on one table publish each row once, and one takes over from the other", async (t) => {
  const service = await aFakeService(t, () => ({ status: 202 }));
  const { db, url } = await anOutbox(t);
  const bridges = [
    await aBridge(t, { url: service.url, sources: [orders(url)] }),
    await aBridge(t, { url: service.url, sources: [orders(url)] }),
  ] as const;
  await fillOutbox(db, { last: 700 });
  await service.until((asked) => asked.flatMap(({ events }) => events).length >= 700);
  await db`select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'partner-api bridge' and datname = current_database()`;
  await fillOutbox(db, { first: 701, last: 900 });
  await bridges[0].stop();
  await service.until((asked) => new Set(asked.flatMap(keysOf)).size === 900);
});

test("a row that comes again is a duplicate and not a second event", async (t) => {
  const service = await aPublishingService(t);
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 20 });
  const bridge = await aBridge(t, { url: service.operatorUrl, sources: [orders(url)] });
  while ((await open(db)) > 0) await bridge.logged(() => true);
  await db`update outbox set published_at = null where id <= 5`;
  while ((await open(db)) > 0) await bridge.logged(() => true);
  await bridge.logged((line) => line["duplicates"] === 5);
  assert.equal((await service.published()).length, 20);
});

test("data is published as it was written, and the trace goes on", async (t) => {
  const service = await aFakeService(t, () => ({ status: 202 }));
  const { db, url } = await anOutbox(t);
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await db`insert into outbox (organization, type, data, traceparent, occurred_at)
           values ('acme', 'order.created', '{"n":1.10,"b":1e2,"a":"é"}', ${traceparent}, '2026-11-28 01:02:03.456789+00')`;
  await aBridge(t, { url: service.url, sources: [orders(url)] });
  await service.until((asked) => asked.length > 0);
  const [first] = service.asked;
  const [event] = first?.events ?? [];
  assert.equal(first?.headers["traceparent"], traceparent);
  assert.equal(event?.["occurred_at"], "2026-11-28T01:02:03.456789+00:00");
  assert.equal(event["dedupe_key"], "orders:public.outbox:1");
});

test("what follows a failed message of its key waits, also when it has a request of its own", async (t) => {
  let refusals = 2;
  const published: number[] = [];
  const service = await aFakeService(t, ({ events }) => {
    const numbers = events.map(({ data }) => (data as { n: number }).n);
    if (numbers.includes(1) && refusals-- > 0) return { status: 503 };
    published.push(...numbers);
    return { status: 202 };
  });
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 6, keys: 1 });
  await db`update outbox set traceparent = '00-4bf92f3577b34da6a3ce929d0e0e473' || id || '-00f067aa0ba902b7-01'`;
  await aBridge(t, { url: service.url, sources: [orders(url)] });
  await service.until(() => published.length === 6);
  assert.deepEqual(published, [1, 2, 3, 4, 5, 6]);
});

test(
  "what follows a message under way waits for its answer, and other keys do not",
  { timeout: 60_000 },
  async (t) => {
    const answering = new EventEmitter();
    const service = await aFakeService(t, async ({ events }) => {
      if (events[0]?.["data"] === 1) await once(answering, "answer", { signal: t.signal });
      return { status: 202 };
    });
    const { db, url } = await anOutbox(t);
    const write = (key: string, n: number) =>
      db`insert into outbox (organization, type, key, data) values ('acme', 'a.b', ${key}, ${String(n)}::json)`;
    const published = () => service.asked.flatMap(({ events }) => events.map(({ data }) => data));
    await aBridge(t, { url: service.url, sources: [orders(url)] });
    await write("slow", 1);
    await service.until(() => published().length === 1);
    await write("slow", 2);
    await write("quick", 3);
    await write("other", 4);
    await service.until(() => published().length === 3);
    assert.deepEqual(published(), [1, 3, 4]);
    answering.emit("answer");
    await service.until(() => published().length === 4);
  },
);

test("with when_published: delete the rows go", async (t) => {
  const service = await aFakeService(t, () => ({ status: 202 }));
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 30 });
  const source = orders(url, { when_published: "delete" });
  const bridge = await aBridge(t, { url: service.url, sources: [source] });
  await bridge.logged((line) => line["msg"] === "published");
  while ((await open(db)) > 0) await bridge.logged(() => true);
  const [row] = await db<{ count: string }[]>`select count(*) from outbox`;
  assert.equal(Number(row?.count), 0);
});

test("a check asks for the index of open rows if there is none, and only then, however small the table is", async (t) => {
  const { db, url } = await anOutbox(t);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const advice = async (further = {}) =>
    (await checked({ url: service.url, sources: [orders(url, further)] })).includes("create index");
  await fillOutbox(db, { last: 1 });
  assert.equal(await advice(), false);
  await db`drop index outbox_open`;
  assert.equal(await advice(), true, "the primary key leads through all rows that are published");
  assert.equal(await advice({ when_published: "delete" }), false);
  assert.equal(await advice({ columns: { position: "occurred_at" } }), true);
});

test("a plan that was made while the table was short reads no long one whole", async (t) => {
  const { db, url } = await anOutbox(t);
  await db`alter table outbox set (autovacuum_enabled = off)`;
  const source = openSource(t, { url: "http://localhost:1", sources: [orders(url)] });
  const readOneByOne = async (rows: number) => {
    for (let n = 0; n < rows; n++) {
      const read = await source.receive(1, 1_000);
      assert.equal(read.length, 1);
      await source.acknowledge(read);
    }
  };
  await fillOutbox(db, { last: 16 });
  await db`analyze outbox`;
  await readOneByOne(16);
  await fillOutbox(db, { first: 17, last: 20_000 });
  await db`update outbox set published_at = now()`;
  await fillOutbox(db, { first: 20_001, last: 20_008 });
  await readOneByOne(8);
  await source.close();
  const sessions = () => db`
    select from pg_stat_activity where application_name = 'partner-api bridge' and datname = current_database()`;
  while ((await sessions()).length > 0); // Its end writes the statistics.
  const [row] = await db<{ read: string }[]>`
    select seq_tup_read as read from pg_stat_user_tables where relname = 'outbox'`;
  assert.ok(Number(row?.read) < 50_000, row?.read);
});

test("a table is read soon while rows come, seldom once none do, and the longer a read takes the later", () => {
  const rest = new Rest(250);
  const waitAfter = (rows: number, tookMs: number, nowMs: number) => {
    rest.afterRead(rows, 200, nowMs - tookMs, nowMs);
    return rest.leftMs(nowMs);
  };
  assert.equal(waitAfter(0, 0, 0), 250);
  assert.equal(waitAfter(1, 0, 10_000), 5);
  assert.equal(waitAfter(1, 3, 10_000), 12);
  assert.equal(waitAfter(1, 300, 10_000), 20);
  assert.equal(waitAfter(100, 3, 10_000), 0);
  const silence = [4, 40, 400, 4_000].map((ms) => waitAfter(0, 0, 10_000 + ms));
  assert.deepEqual(silence, [5, 10, 100, 250]);
});

test("a PostgreSQL that is starting is waited for, by a check and by a bridge, without an error", async (t) => {
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 1 });
  const server = await aStartingPostgres(t, url);
  const begin = () => (server.state.refusals = 2);
  await checkStarting(t, { ...orders(server.url), begin });
});

test("rows that were read and not published come again after a read that failed, and the table is described anew", async (t) => {
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 50 });
  const bridge = await aBridge(t, { url: service.url, sources: [orders(url)] });
  await service.until((asked) => asked.length > 0);
  await db`alter table outbox drop column traceparent, alter column id type integer`;
  isAway = false;
  await bridge.logged((line) => line["msg"] === "the source fails: tried again");
  while ((await open(db)) > 0) await bridge.logged(() => true);
});

test("rows are found again by an id of any type", async (t) => {
  const ids = {
    "char(26)": "'01KB5E6Q2W0000000000000000'",
    "varchar(5)": "'a,b\"'",
    uuid: "'019acae3-37bc-7000-8000-000000000001'",
    "numeric(30)": "123456789012345678901234567890",
    "bit(4)": "b'0101'",
    bytea: "'\\x00ff'",
    timestamptz: "'2026-11-28 01:02:03.456789+00'",
    name: "'n'",
  };
  const service = await aFakeService(t, () => ({ status: 202 }));
  const { db, url } = await anOutbox(t);
  const sources = [];
  for (const [i, [type, id]] of Object.entries(ids).entries()) {
    await db.unsafe(`create table "Out box ${i}" (like outbox);
      alter table "Out box ${i}" drop column id, add column id ${type} primary key;
      insert into "Out box ${i}" values ('acme', 'order.created', '{}', null, now(), null, null, null, ${id})`);
    sources.push({ ...orders(url, { table: `"Out box ${i}"` }), name: `s${i}` });
  }
  const bridge = await aBridge(t, { url: service.url, sources });
  for (const i of sources.keys())
    while ((await open(db, `"Out box ${i}"`)) > 0) await bridge.logged(() => true);
  assert.equal(service.asked.flatMap(({ events }) => events).length, sources.length);
});

test("a row that stays open although it was marked is a fault, and is not published again and again", async (t) => {
  const service = await aFakeService(t, () => ({ status: 202 }));
  const { db, url } = await anOutbox(t);
  await db.unsafe(`create function ignore() returns trigger language plpgsql as 'begin return null; end';
    create trigger ignore before update or delete on outbox for each row execute function ignore()`);
  await fillOutbox(db, { last: 3 });
  const bridge = await aBridge(t, { url: service.url, sources: [orders(url)] });
  const { why } = await bridge.logged((line) => line["level"] === "error");
  assert.match(
    String(why),
    /^rows of public.outbox stay open after their update, as with a trigger or a row-level policy$/,
  );
  assert.equal(service.asked.length, 1);
  await db`drop trigger ignore on outbox`;
  while ((await open(db)) > 0) await bridge.logged(() => true);
  assert.equal(service.asked.length, 1);
});

test("rows without an id of their own are a fault, and not one event", async (t) => {
  const service = await aFakeService(t, () => ({ status: 202 }));
  const { db, url } = await anOutbox(t);
  await db.unsafe(`alter table outbox alter column id drop identity, drop constraint outbox_pkey;
    alter table outbox alter column id drop not null`);
  const write = (id: number | null) =>
    db`insert into outbox (id, organization, type, data) values (${id}, 'acme', 'order.created', '{"n":1}')`;
  const why = "rows of public.outbox have no id of their own: two of them would be one event";
  for (const ids of [[null], [7, 7]]) {
    await db`truncate outbox`;
    for (const id of ids) await write(id);
    const bridge = await aBridge(t, { url: service.url, sources: [orders(url)] });
    await bridge.logged((line) => line["why"] === why);
    await bridge.stop();
  }
  assert.equal(service.asked.length, 0);
});

test("headers that are no JSON object are none, and stop no other row", async (t) => {
  const service = await aFakeService(t, () => ({ status: 202 }));
  const { db, url } = await anOutbox(t);
  await db`alter table outbox add headers text`;
  await fillOutbox(db, { last: 5 });
  const values = ["no JSON", "7", '["a"]', "null", '{"Type":"order.paid"}'];
  for (const [i, value] of values.entries())
    await db`update outbox set headers = ${value} where id = ${i + 1}`;
  const event = { type: { header: "type" } };
  const bridge = await aBridge(t, { url: service.url, sources: [orders(url, { event })] });
  while ((await open(db)) > 0) await bridge.logged(() => true);
  const types = service.asked.flatMap(({ events }) => events.map(({ type }) => type));
  assert.deepEqual(types, ["order.paid"]);
});

async function open(
  db: Awaited<ReturnType<typeof anOutbox>>["db"],
  table = "outbox",
): Promise<number> {
  const [row] = await db.unsafe(
    `select count(*) from ${table} where published_at is null and set_aside is null`,
  );
  return Number(row?.["count"]);
}
