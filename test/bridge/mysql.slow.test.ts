// Depends on: src, docs, package.json

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { RowDataPacket } from "mysql2/promise";
import { parse } from "yaml";
import { Afterwards } from "../ledger/afterwards.ts";
import { aBridge, aFakeService, checked } from "../support/bridge.ts";
import { samplesOf } from "../support/page-samples.ts";
import { requireProgram } from "../support/required.ts";
import { checkConnections, tlsFiles } from "./connections.ts";
import { assertBalanced, runLedger } from "./ledger.ts";
import { aMariaDbBroker, ofGalera, startMariaDb } from "./mysql-broker.ts";
import { SHORT } from "./plans.ts";
import { checkStarting } from "./starting.ts";

const hasMariaDb = (t: TestContext) =>
  requireProgram(t, "mariadbd", ["--no-defaults", "--version"]);

test("each row is one event while bridges, service and both databases are killed", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const plan = { ...SHORT, seed: Math.floor(Math.random() * 2 ** 31) };
  const ledger = await runLedger(aMariaDbBroker, plan);
  t.diagnostic(JSON.stringify({ seed: plan.seed, ...ledger }));
  assertBalanced(ledger);
});

test("a row becomes an event as it was written, and a refused one gets the reason", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const { db, rigFor } = await anOutbox(t);
  await db.query(`insert into shop.outbox (organization, type, data, occurred_at) values
    ('acme', 'order.created', '{"n":1.10,"b":1e2,"a":"é"}', '2026-11-28 01:02:03.456789'),
    ('acme', 'order.created', '{"n":-1}', '2026-11-28 01:02:03')`);
  const service = await aFakeService(t, ({ events }) => {
    const faults = events.flatMap(({ data }, i) =>
      (data as { n: number }).n < 0
        ? [{ pointer: `/events/${i}/data/n`, detail: "must be >= 0" }]
        : [],
    );
    return faults.length > 0 ? { status: 422, body: { errors: faults } } : { status: 202 };
  });
  const rig = rigFor(service.url);
  const told = await checked(rig);
  assert.match(told, /^ok +orders: MariaDB 1[0-9.]+, 2 open rows in `outbox`$/m);
  assert.doesNotMatch(told, /sorts or scans/);
  assert.match(
    told,
    /"data":{"n":1.10,"b":1e2,"a":"é"},"occurred_at":"2026-11-28T01:02:03.456789Z","dedupe_key":"orders:`outbox`:1"}/,
  );
  const bridge = await aBridge(t, rig);
  await bridge.logged((line) => line["msg"] === "set aside");
  await bridge.logged((line) => line["msg"] === "published");
  while (!(await bridge.get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'));
  const [rows] = await db.query(
    "select set_aside, published_at is null as open from shop.outbox order by id",
  );
  assert.deepEqual(rows, [
    { set_aside: null, open: 0 },
    { set_aside: "data/n must be >= 0", open: 1 },
  ]);
});

test("two bridges on one table publish each row once and in the order of its key, and one takes over", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const { db, rigFor } = await anOutbox(t);
  await fill(db, 1, 800);
  let turn = 0;
  const seen: number[] = [];
  const service = await aFakeService(t, ({ events }) => {
    if (turn++ % 3 === 1) return { status: 503 };
    seen.push(...events.map(({ data }) => (data as { n: number }).n));
    return { status: 202 };
  });
  const rig = rigFor(service.url, { when_published: "delete" });
  const first = await aBridge(t, rig);
  await service.until(() => seen.length > 0);
  await aBridge(t, rig);
  await first.stop();
  await fill(db, 801, 1_000);
  await service.until(() => seen.length >= 1_000);
  assert.equal(new Set(seen).size, 1_000);
  for (let key = 0; key < 10; key++) {
    const ofKey = seen.filter((n) => n % 10 === key);
    assert.deepEqual(
      ofKey,
      ofKey.toSorted((a, b) => a - b),
    );
  }
});

test("a node that has not joined its cluster is waited for, by a check and by a bridge, without an error", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const { url, db } = await startMariaDb(afterwards, undefined, await ofGalera());
  await fill(db, 1, 1);
  const answerWith = (refusal: "ALL" | "NONE") =>
    db.query(`set global wsrep_reject_queries = '${refusal}'`);
  let joining: Promise<unknown> = Promise.resolve();
  const begin = async () => {
    await joining;
    await answerWith("ALL");
    joining = sleep(2_000).then(() => answerWith("NONE"));
  };
  afterwards.after(() => joining);
  await checkStarting(t, { kind: "outbox", url, begin });
});

test("each kind of id is found again, and each kind of value is JSON", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const { db, rigFor } = await anOutbox(t);
  const ids = [
    ["binary(16)", "x'00ff27'"],
    ["varchar(50)", "'it\\'s a \\\\ \u00e9'"],
    ["bigint unsigned", "18446744073709551615"],
    ["decimal(30,0)", "123456789012345678901234567890"],
  ] as const;
  for (const [i, [type, value]] of ids.entries()) {
    const members = "json_object('flag', true)";
    await db.query(`create table shop.o${i} (id ${type} primary key, big bigint, price decimal(9,2), flag boolean,
      at datetime(3), zeros int(8) zerofill, data json, published_at timestamp null, set_aside varchar(10))`);
    await db.query(
      `insert into shop.o${i} values (${value}, 9007199254740993, 1.10, true, '2026-11-28 01:02:03.5', 7, ${members}, null, null)`,
    );
    const service = await aFakeService(t, () => ({
      status: 422,
      body: { detail: "a reason that is too long for its column" },
    }));
    const event = { organization: "acme", type: "a.b", data: { pointer: "" } };
    const bridge = await aBridge(t, rigFor(service.url, { table: `shop.o${i}`, event }));
    await bridge.logged((line) => line["msg"] === "set aside");
    const [rows] = await db.query(`select set_aside from shop.o${i}`);
    assert.deepEqual(rows, [{ set_aside: "422 a reas" }], type);
    const data = service.asked[0]?.events[0]?.["data"] as Record<string, unknown>;
    const { big, price, flag, at, zeros, data: own } = data;
    const expected = [
      9007199254740993n.toString(),
      1.1,
      true,
      "2026-11-28T01:02:03.500Z",
      "00000007",
    ];
    assert.deepEqual(
      [String(big).slice(0, 15), price, flag, at, zeros],
      [expected[0]?.toString().slice(0, 15), ...expected.slice(1)],
    );
    assert.deepEqual(own, { flag: true });
    await bridge.stop();
  }
});

test("rows that were read come again after a read that failed, and two ids of bytes are two keys", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const { db, rigFor } = await anOutbox(t);
  await db.query(`alter table shop.outbox add column dedupe_key binary(2);
    insert into shop.outbox (organization, type, data, dedupe_key) values
    ('acme', 'order.created', '{"n":1}', x'0080'), ('acme', 'order.created', '{"n":2}', x'0081')`);
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const bridge = await aBridge(t, rigFor(service.url));
  await service.until((asked) => asked.length > 0);
  await db.query("alter table shop.outbox drop column traceparent");
  isAway = false;
  await bridge.logged((line) => line["msg"] === "the source fails: tried again");
  while (!(await bridge.get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'))
    await sleep(20);
  const keys = service.asked.flatMap(({ events }) => events.map((one) => one["dedupe_key"]));
  assert.deepEqual(new Set(keys), new Set(["0080", "0081"]));
});

test("a row that stays open although it was marked is a fault, and is not published again and again", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const { db, rigFor } = await anOutbox(t);
  await db.query(`create trigger shop.ignored before update on shop.outbox
    for each row set new.published_at = old.published_at, new.set_aside = old.set_aside`);
  await fill(db, 1, 3);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const bridge = await aBridge(t, rigFor(service.url));
  const { why } = await bridge.logged(({ level }) => level === "error");
  assert.match(String(why), /^rows of `outbox` stay open after their update/);
  await db.query("drop trigger shop.ignored");
  while (!(await bridge.get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'));
  assert.equal(service.asked.length, 1);
});

test("a server that has become read-only is left for the one that its name leads to now", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const { db, port, rigFor } = await anOutbox(t);
  await db.query(`create user bridge identified by 'secret';
    grant select, update (published_at, set_aside) on shop.outbox to bridge`);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const url = `mysql://bridge:secret@127.0.0.1:${port}/shop`;
  const bridge = await aBridge(t, rigFor(service.url, { url }));
  const connections = async () => {
    const asked = "select id from information_schema.processlist where user = 'bridge'";
    const [rows] = await db.query<(RowDataPacket & { id: number })[]>(asked);
    return rows.map(({ id }) => id);
  };
  await fill(db, 1, 1);
  await bridge.logged(({ msg }) => msg === "published");
  const [before] = await connections();
  await db.query("set global read_only = 1");
  await fill(db, 2, 2);
  await bridge.logged(({ why }) => why === "the server is read-only: no row can be marked in it");
  assert.equal((await connections()).includes(before ?? 0), false);
  const { length: requests } = service.asked;
  await sleep(200);
  assert.equal(service.asked.length, requests, "nothing is published again and again");
  await db.query("set global read_only = 0");
  while (!(await bridge.get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'))
    await sleep(20);
});

test("what the table or the role lacks is said, all of it", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const { db, port, rigFor } = await anOutbox(t);
  await db.query("create table shop.bad (id int primary key)");
  await db.query("create user reader identified by 'secret'; grant select on shop.* to reader");
  const reason = async (further: object) =>
    /^FAILS orders: (.*)$/m.exec(await checked(rigFor("http://127.0.0.1:1", further)))?.[1];
  assert.equal(
    await reason({ table: "bad" }),
    'the table `bad` has no column "published_at", "set_aside": see `columns`',
  );
  assert.equal(await reason({ table: "none" }), "there is no table none, or no right to see it");
  const url = `mysql://reader:secret@127.0.0.1:${port}/shop`;
  assert.match((await reason({ url })) ?? "", /^UPDATE command denied to user 'reader'/i);
});

async function anOutbox(t: TestContext) {
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const server = await startMariaDb(afterwards);
  const { sample } = await samplesOf("bridge.md");
  const [source] = (parse(sample("yaml mysql")) as { sources: [object] }).sources;
  const rigFor = (url: string, further = {}) => ({
    ...{ url, sources: [{ ...source, ...further }], env: { OUTBOX_URL: server.url } },
  });
  return { ...server, rigFor };
}

type Db = Awaited<ReturnType<typeof startMariaDb>>["db"];

async function fill(db: Db, first: number, last: number): Promise<void> {
  const rows = Array.from({ length: last - first + 1 }, (_, i) => first + i).map((n) => [
    ...["acme", "order.created", `k${n % 10}`],
    JSON.stringify({ n }),
  ]);
  await db.query("insert into shop.outbox (organization, type, `key`, data) values ?", [rows]);
}

test("over TLS, rows are published, and each fault of a connection is named", async (t) => {
  if (!(await hasMariaDb(t))) return;
  const files = await tlsFiles(t);
  const { db, port } = await startMariaDb(t, files);
  const PASSWORD = "secret-of-the-bridge";
  await db.query(`create user bridge@'%' identified by '${PASSWORD}' require ssl;
    grant select, update (published_at, set_aside) on shop.outbox to bridge@'%'`);
  await db.query(
    "insert into shop.outbox (organization, type, data) values ('acme', 'order.created', '{\"n\":1}')",
  );
  const urlOf = (password: string) => `mariadb://bridge:${password}@localhost:${port}/shop`;
  await checkConnections(t, {
    source: {
      ...{ name: "orders", kind: "outbox", url: urlOf(PASSWORD), tls: { ca: files.authority } },
    },
    secrets: [PASSWORD, "wrong-password"],
    faults: [
      [{ url: urlOf("wrong-password") }, /Access denied/],
      [{ tls: undefined }, /Access denied|ssl|TLS/i],
      [{ tls: {} }, /certificate/],
      [{ tls: { ca: files.stranger } }, /certificate/],
    ],
  });
});
