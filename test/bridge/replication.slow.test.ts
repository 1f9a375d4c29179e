// Depends on: src, docs
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import pg from "pg";
import { homeFolder, removeEmbedded, startEmbedded } from "../../src/builtin/index.ts";
import {
  aBridge,
  aFakeService,
  anOutbox,
  checked,
  fillOutbox,
  openSource,
} from "../support/bridge.ts";
import { samplesOf } from "../support/page-samples.ts";
import { aStartingPostgres, checkStarting } from "./starting.ts";

const orders = ({ url, name }: { url: string; name: string }) => ({
  ...{ name: "orders", kind: "outbox", url },
  ...{ read: "replication", slot: name, publication: name },
});

test("inserts are read from a slot in the order of commits, and the slot follows what is durable", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  const { db } = outbox;
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  await fillOutbox(db, { last: 700 });
  const bridge = await aBridge(t, { url: service.url, sources: [orders(outbox)] });
  await service.until((asked) => asked.length > 3);
  const before = await confirmed(db);
  isAway = false;
  await fillOutbox(db, { first: 701, last: 2_000 });
  await service.until((asked) => numbersIn(asked.filter((_, i) => i > 3)).size === 2_000);
  while ((await confirmed(db)) === before) await bridge.logged(() => true);
  assert.match((await bridge.get("/metrics")).text, /lag_bytes{source="orders"} \d+\n/);
  assert.equal((await bridge.get("/readyz")).status, 200);
});

test("a row that is refused gets the reason, and the rest of its transaction is published", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  const { db } = outbox;
  const service = await aFakeService(t, ({ events }) => {
    const faults = events.flatMap(({ data }, i) =>
      (data as { n: number }).n < 0
        ? [{ pointer: `/events/${i}/data/n`, detail: "must be >= 0" }]
        : [],
    );
    return faults.length > 0 ? { status: 422, body: { errors: faults } } : { status: 202 };
  });
  await aBridge(t, { url: service.url, sources: [orders(outbox)] });
  await fillOutbox(db, { last: 300, bad: [5, 6, 290] });
  await service.until((asked) => {
    const last = numbersIn(asked.slice(-1));
    return last.has(300) && Math.min(...last) > 0;
  });
  const aside = await db<{ id: string; set_aside: string }[]>`
    select id::text, set_aside from outbox where set_aside is not null order by outbox.id`;
  assert.deepEqual(
    aside.map(({ id, set_aside: reason }) => [Number(id), reason]),
    [5, 6, 290].map((id) => [id, "data/n must be >= 0"]),
  );
});

test("without the publication nothing is read, and the reason is a sentence", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  const { db } = outbox;
  await db.unsafe(`drop publication ${outbox.name}`);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const bridge = await aBridge(t, { url: service.url, sources: [orders(outbox)] });
  await fillOutbox(db, { last: 10 });
  const { why } = await bridge.logged((line) => line["level"] === "error");
  assert.match(String(why), /publication .* is missing/);
  assert.equal(service.asked.length, 0);
});

test("a publication that leaves out the id or the key of a row is a fault that names them", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  const { db, name } = outbox;
  const reason = async () =>
    /^FAILS orders: (.*)$/m.exec(
      await checked({ url: "http://127.0.0.1:1", sources: [orders(outbox)] }),
    )?.[1];
  await db.unsafe(`alter publication ${name} set table outbox (organization, type, data)`);
  const why = "of public.outbox: its column list lacks it, or it is generated";
  const unsent = (columns: string) => `the publication ${name} does not send ${columns} ${why}`;
  assert.equal(await reason(), unsent("id, key, traceparent"));
  await db.unsafe(`alter publication ${name} set table outbox;
    alter table outbox drop column key, add key text generated always as (data ->> 'n') stored`);
  assert.equal(await reason(), unsent("key"));
});

test("rows of a table that takes the place of the outbox while it is read are published", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  const { db, name } = outbox;
  const service = await aFakeService(t, () => ({ status: 202 }));
  await db.unsafe(
    `create table next (like outbox including all); alter publication ${name} add table next`,
  );
  await aBridge(t, { url: service.url, sources: [orders(outbox)] });
  await fillOutbox(db, { last: 10 });
  await service.until((asked) => numbersIn(asked).size === 10);
  await db.unsafe(
    "begin; alter table outbox rename to former; alter table next rename to outbox; commit",
  );
  await fillOutbox(db, { first: 11, last: 20 });
  await service.until((asked) => numbersIn(asked).size === 20);
});

test("two bridges on one slot: the second one reads when the first one stops", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  const { db } = outbox;
  const service = await aFakeService(t, () => ({ status: 202 }));
  const first = await aBridge(t, { url: service.url, sources: [orders(outbox)] });
  await fillOutbox(db, { last: 100 });
  await service.until((asked) => numbersIn(asked).size === 100);
  await aBridge(t, { url: service.url, sources: [orders(outbox)] });
  await first.stop();
  await fillOutbox(db, { first: 101, last: 200 });
  await service.until((asked) => numbersIn(asked).size === 200);
});

test("a PostgreSQL that is starting is waited for, by a check and by a bridge, without an error", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  await fillOutbox(outbox.db, { last: 1 });
  const server = await aStartingPostgres(t, outbox.url);
  const begin = () => (server.state.refusals = 2);
  await checkStarting(t, { ...orders({ ...outbox, url: server.url }), begin });
});

test("rows without an id are set aside in the log alone, and neither is one event with the other", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  const { db } = outbox;
  const service = await aFakeService(t, () => ({ status: 202 }));
  await db.unsafe(`alter table outbox alter column id drop identity, drop constraint outbox_pkey;
    alter table outbox alter column id drop not null`);
  const write = (id: number | null) =>
    db`insert into outbox (id, organization, type, data) values (${id}, 'acme', 'order.created', '{"n":1}')`;
  for (const id of [null, null, 3]) await write(id);
  const bridge = await aBridge(t, { url: service.url, sources: [orders(outbox)] });
  await service.until((asked) => asked.length > 0);
  const keys = service.asked.flatMap(({ events }) => events.map((one) => one["dedupe_key"]));
  assert.deepEqual(keys, ["orders:public.outbox:3"]);
  const isAside = ({ msg }: Record<string, unknown>) => msg === "set aside";
  while (bridge.log.filter(isAside).length < 2) await bridge.logged(() => true);
});

test("a server without the slot is left, because the next one of its name may have it", async (t) => {
  const outbox = await aReplicatedOutbox(t);
  const { db, name } = outbox;
  const source = openSource(t, { url: "", sources: [orders(outbox)] });
  await db`select pg_drop_replication_slot(${name})`;
  await assert.rejects(source.receive(1, 1), { message: /^there is no replication slot/ });
  const [sessions] = await db<{ count: string }[]>`
    select count(*) from pg_stat_activity where application_name = 'partner-api bridge' and datname = ${name}`;
  assert.equal(Number(sessions?.count), 0);
});

test("a standby is not read from, because nothing can be marked in it, and is left for the next server", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-api-standby-"));
  const options = { dataDir, settings: { fsync: "off" }, log: () => undefined };
  const first = await startEmbedded(options);
  const { db, url } = await anOutbox(t, { server: first.url, isKept: true });
  await fillOutbox(db, { last: 10 });
  await first.stop();
  await writeFile(join(homeFolder(dataDir), "data/standby.signal"), "");
  const standby = await startEmbedded(options);
  t.after(async () => {
    await standby.stop();
    await removeEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  });
  const service = await aFakeService(t, () => ({ status: 202 }));
  const sources = [{ name: "orders", kind: "outbox", url }];
  const bridge = await aBridge(t, { url: service.url, sources });
  const { why } = await bridge.logged(({ level }) => level === "error");
  assert.equal(why, "the server is a standby, in which no row can be marked");
  assert.equal(service.asked.length, 0);
  const operator = new pg.Client(url);
  await operator.connect();
  await operator.query("select pg_promote()");
  await operator.end();
  await service.until((asked) => numbersIn(asked).size === 10);
});

function numbersIn(asked: readonly { events: Record<string, unknown>[] }[]): Set<number> {
  return new Set(
    asked.flatMap(({ events }) => events.map(({ data }) => (data as { n: number }).n)),
  );
}

/** An outbox with a slot and a publication of its own name. */
async function aReplicatedOutbox(t: TestContext) {
  const server = await (opened ??= open());
  const outbox = await anOutbox(t, { server: server.url, isKept: true });
  const { sample } = await samplesOf("bridge.md");
  for (const statement of sample("sql replication")
    .split(/(?<=;)\n/)
    .filter(Boolean))
    await outbox.db.unsafe(statement.replace("partner_api_bridge", outbox.name));
  return outbox;
}

let opened: ReturnType<typeof open> | undefined;

after(async () => {
  await (await opened)?.close();
});

/** A server whose write-ahead log can be decoded. */
async function open() {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-api-logical-"));
  const settings = { fsync: "off", wal_level: "logical" };
  const server = await startEmbedded({ dataDir, settings, log: () => undefined });
  const close = async () => {
    await server.stop();
    await removeEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, close };
}

async function confirmed(db: Awaited<ReturnType<typeof anOutbox>>["db"]): Promise<string> {
  const [row] = await db<{ lsn: string }[]>`
    select confirmed_flush_lsn::text as lsn from pg_replication_slots where database = current_database()`;
  return row?.lsn ?? "";
}
