import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";
import { aFolder, ORDER, CUSTOMER } from "../support/event-types.ts";
import { ADMIN_TOKEN, runProgram, startProgram } from "../support/program.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { aPartner, aRig, call } from "../support/rig.ts";
import { findServer } from "../../src/postgres/server.ts";
import { verify } from "../../src/webhook/index.ts";

/** A rig whose database has every setting at a value that would break a session without settings of its own. */
async function aHostileRig(t: TestContext, further: Record<string, string> = {}) {
  const db = await createDatabase({ max: 1, isHostile: true });
  return { ...(await aRig(t, further)), ...environmentOf(db) };
}

/** A session of another program, with the database's settings, except that it may be slow. */
async function aStranger(url: string): Promise<pg.Client> {
  const options = "-c idle_session_timeout=0 -c statement_timeout=0 -c lock_timeout=0";
  const stranger = new pg.Client({ connectionString: url, options });
  await stranger.connect();
  await stranger.query(`
    select set_config(name, '0', false)
      from unnest(array['idle_in_transaction_session_timeout', 'transaction_timeout']) as name
     where current_setting(name, true) is not null`);
  return stranger;
}

const DAY_MS = 86_400_000;

test("the whole contract holds on a database with hostile settings", async (t) => {
  const types = await aFolder(t, {
    "order.created.json": ORDER,
    "customer.changed.json": CUSTOMER,
  });
  const rig = await aHostileRig(t, { EVENT_TYPES: types, RETRY_DELAYS: "50ms" });
  const program = await startProgram(t, rig);
  const admin = async (path: string, method = "GET", body?: unknown) => {
    const url = `${program.operatorUrl}/api/v1/admin/${path}`;
    const answer = await call(url, { token: ADMIN_TOKEN, method, body });
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const itemsOf = async (path: string) => (await admin(path))["items"] as Record<string, unknown>[];

  const partner = await aPartner(program, "acme");
  assert.equal((await partner.ask("/me")).body["partner_org"], "acme");
  const receiver = await startLocalReceiver(t);
  const created = await partner.ask("/webhooks", {
    method: "POST",
    body: { url: receiver.url("/hooks"), events: ["vc.test.ping", "order.created"] },
  });
  assert.equal(created.status, 201);
  const subscription = { id: String(created.body["id"]), secret: String(created.body["secret"]) };
  assertRecent(created.body["created_at"]);
  const listed = (await partner.ask("/webhooks")).body as unknown as Record<string, unknown>[];
  assert.deepEqual(
    listed.map((item) => [item["id"], item["created_at"]]),
    [[subscription.id, created.body["created_at"]]],
  );

  const arrival = async () => {
    const received = await receiver.next();
    const verdict = await verify({
      secret: subscription.secret,
      headers: received.headers,
      body: received.body,
    });
    assert.equal(verdict.verdict, "valid");
    return JSON.parse(received.body.toString()) as Record<string, unknown>;
  };

  await t.test(
    "a test event that fails once is retried, and is in the failures audit",
    async () => {
      receiver.answer(status(500), status(204));
      const { body } = await partner.ping(subscription);
      const first = await arrival();
      assert.deepEqual(await arrival(), first);
      assert.equal(first["id"], body["event_id"]);
      assertRecent(first["occurred_at"]);
      const { body: audit } = await partner.ask(`/webhooks/${subscription.id}/failures`);
      const [failure] = audit["items"] as Record<string, unknown>[];
      assert.equal(failure?.["http_status"], 500);
      assertRecent(failure["attempted_at"]);
    },
  );

  // Day and month can be mistaken for each other, and the time has milliseconds.
  const occurredAt = new Date(Date.now() - 3 * DAY_MS).toISOString();

  await t.test("an event of the HTTP API arrives with its time", async () => {
    const { event_id: id } = await admin("events", "POST", {
      ...{ organization: "acme", type: "order.created", data: { total: 7 } },
      occurred_at: occurredAt,
    });
    const arrived = await arrival();
    assert.deepEqual([arrived["id"], arrived["occurred_at"]], [id, occurredAt]);
    assert.equal((await admin(`events/${String(id)}`))["occurred_at"], occurredAt);
  });

  await t.test("an event of the SQL function arrives with its time", async () => {
    const stranger = await aStranger(rig["MIGRATION_DATABASE_URL"] ?? "");
    await stranger.query("begin isolation level read committed read write");
    const { rows } = await stranger.query<{ id: string }>(
      `select partner_api_publish('acme', 'order.created', '{"total": 8}', 'once', $1) as id`,
      [new Date(occurredAt)],
    );
    await stranger.query("commit");
    await stranger.end();
    const arrived = await arrival();
    assert.deepEqual([arrived["id"], arrived["occurred_at"]], [`evt_${rows[0]?.id}`, occurredAt]);
  });

  await t.test("operators see everything, and can deliver again", async () => {
    const [organization] = await itemsOf("organizations");
    assertRecent(organization?.["created_at"]);
    for (const path of ["keys", "subscriptions", "changes", "event-types"])
      assert.ok((await itemsOf(path)).length > 0, path);
    assert.equal((await itemsOf("deliveries?state=delivered")).length, 3);
    const overview = await admin("overview?window=1h");
    assert.equal(overview["status"], "ok", JSON.stringify(overview));

    const aDeadEvent = async () => {
      receiver.answer(status(500), status(500), status(204));
      const { event_id: id } = await admin("events", "POST", {
        ...{ organization: "acme", type: "order.created", data: { total: 9 } },
      });
      for (let attempt = 1; attempt <= 2; attempt++) assert.equal((await arrival())["id"], id);
      const isOf = (item: Record<string, unknown>) => item["event_id"] === id;
      return { id, dead: await until(async () => (await itemsOf(DEAD)).find(isOf)) };
    };
    const { id: one, dead } = await aDeadEvent();
    await admin(`deliveries/${String(dead["id"])}/redeliver`, "POST");
    assert.equal((await arrival())["id"], one);

    const { id: other } = await aDeadEvent();
    const since = new Date(Date.now() - DAY_MS).toISOString();
    const filter = { subscription: subscription.id, event: other, since };
    await admin("redeliveries", "POST", { filter });
    assert.equal((await arrival())["id"], other);
  });

  const { stdout } = await runProgram(["doctor"], rig);
  assert.match(stdout, /^ok +database +PostgreSQL/m, stdout);
  assert.equal(await program.end("SIGTERM"), 0);
});

test("partitions that an owner makes in a session of its own are named as all others", async () => {
  const db = await createDatabase({ max: 1, isHostile: true });
  const owner = await aStranger(environmentOf(db)["MIGRATION_DATABASE_URL"] ?? "");
  const ownSettings =
    "set default_transaction_read_only = off; set restrict_nonsystem_relation_kind = ''";
  await owner.query(ownSettings);
  await owner.query("select create_partitions('events', '2031-03-04T05:06:07Z')");
  const { rows } = await owner.query<{ name: string }>(
    "select relname as name from pg_class where relname like '%\\_2031%' and relkind = 'r' order by 1",
  );
  await owner.end();
  assert.deepEqual(
    rows.map((row) => row.name),
    ["04", "05", "06", "07"].map((day) => `events_203103${day}_000000`),
  );
});

const AT_LOGIN = `
  create function at_login() returns event_trigger language plpgsql as $$
    begin perform set_config('datestyle', 'German', false); end $$;
  create event trigger at_login on login execute function at_login()`;

const OTHERS = `
  create schema other; grant usage on schema other to public; alter database "%" set search_path = other, public`;

for (const [what, statement, words, since] of [
  [
    "foreign keys are off",
    `alter database "%" set session_replication_role = replica`,
    /DATABASE_URL: session_replication_role is replica.*: reset it/,
    15,
  ],
  [
    "other schemas' functions come before PostgreSQL's",
    `alter database "%" set search_path = public, pg_catalog`,
    /DATABASE_URL: search_path is public, pg_catalog.*Remove pg_catalog/,
    15,
  ],
  [
    "a login trigger changes our settings",
    AT_LOGIN,
    /DATABASE_URL: .* did not get the settings .* \(datestyle\): .*login trigger/,
    17,
  ],
  [
    "search_path is empty, as for a database that many share",
    `alter database "%" set search_path = ''`,
    /search_path is "", which names no schema of the database: add search_path=public to the URL/,
    15,
  ],
  [
    "search_path is for schemas of the roles",
    `create schema "a, ""b"; alter database "%" set search_path = '$user', "c"`,
    /search_path is "\$user", c, which names no schema of the database: add search_path=public/,
    15,
  ],
  [
    "another application's table comes first",
    `${OTHERS}; create table other.settings (x int)`,
    /hides settings of the schema public: add search_path=public to the URL/,
    15,
  ],
  [
    "another application keeps its own migrations there",
    `${OTHERS}; create table other.schema_migrations (version bigint, dirty boolean);
     grant select on other.schema_migrations to public`,
    /schema_migrations is another application's: create a schema for the service/,
    15,
  ],
  [
    "another application's migrations have names, too",
    `${OTHERS}; create table other.schema_migrations (version bigint, name text);
     insert into other.schema_migrations values (20260101, '20260101_users.sql'); grant select on other.schema_migrations to public`,
    /schema_migrations is another application's: create a schema for the service/,
    15,
  ],
  [
    "an event trigger turns on row-level security for every table",
    `do $$ declare tab regclass; begin
       for tab in select oid from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace loop
         execute 'alter table ' || tab || ' enable row level security';
       end loop; end $$`,
    /row-level security hides the rows of activity_hours, .*, waiting_deliveries from the role .*bypassrls/,
    15,
  ],
] as const) {
  test(`the start names what nobody but an administrator can change: ${what}`, async (t) => {
    const db = await createDatabase({ max: 1 });
    const owner = ownerOf(db);
    if (Number.parseInt((await findServer(owner)).version) < since) return;
    await owner.unsafe(statement.replace("%", db.options.database));
    const starting = startProgram(t, { ...(await aRig(t)), ...environmentOf(db) });
    await assert.rejects(starting, words);
  });
}

test("a role that takes on another one gets the service's rights through it", async (t) => {
  const db = await createDatabase({ max: 1 });
  const owner = ownerOf(db);
  const { database: name } = db.options;
  await owner.unsafe(`create role ${name}_app; grant ${name}_app to ${name}`);
  await owner.unsafe(`alter role ${name} in database ${name} set role = '${name}_app'`);
  const program = await startProgram(t, { ...(await aRig(t)), ...environmentOf(db) });
  const { ask } = await aPartner(program, "acme");
  assert.equal((await ask("/me")).status, 200);
  assert.equal(await program.end("SIGTERM"), 0);
  await owner.unsafe(`drop owned by ${name}_app; drop role ${name}_app`);
});

test("a role that the URL takes on gets the service's rights", async (t) => {
  const db = await createDatabase({ max: 1 });
  const owner = ownerOf(db);
  const { database: name } = db.options;
  await owner.unsafe(`create role ${name}_app; grant ${name}_app to ${name}`);
  await owner.unsafe(`revoke all on all tables in schema public from ${name}`);
  const { DATABASE_URL: url, ...others } = environmentOf(db);
  const env = { ...(await aRig(t)), ...others, DATABASE_URL: `${url}&role=${name}_app` };
  const program = await startProgram(t, env);
  const { ask } = await aPartner(program, "acme");
  assert.equal((await ask("/me")).status, 200);
  assert.equal(await program.end("SIGTERM"), 0);
  await owner.unsafe(`drop owned by ${name}_app; drop role ${name}_app`);
});

test("the start names every table, type and function of another application that ours would meet, and makes none", async (t) => {
  const db = await createDatabase({ max: 1 });
  const name = `second_${process.pid}`;
  const owner = ownerOf(db);
  await owner.unsafe(`create database ${name}`);
  const url = Object.assign(new URL(environmentOf(db)["MIGRATION_DATABASE_URL"] ?? ""), {
    pathname: name,
  }).href;
  await aLook(
    url,
    `create table events (id int); create type attempts as enum ('a'); create table orders (id int);
     create function retention(text) returns int language sql as 'select 1'`,
  );
  const rig = { ...(await aRig(t)), DATABASE_URL: url, MIGRATION_DATABASE_URL: "" };
  await assert.rejects(
    startProgram(t, rig),
    /the schema public has attempts, events, retention of another application: create a schema/,
  );
  const { rowCount } = await aLook(url, "select from pg_class where relname = 'settings'");
  assert.equal(rowCount, 0);
  await aLook(url, "create schema service");
  const apart = { ...rig, DATABASE_URL: `${url}&search_path=Service` }; // A name without quotes is read in lower case.
  assert.equal(await (await startProgram(t, apart)).end("SIGTERM"), 0);
  await owner.unsafe(`drop database ${name} with (force)`);
});

test("the start names a database that cannot store every text, before it changes anything", async (t) => {
  const db = await createDatabase({ max: 1 });
  const owner = ownerOf(db);
  const name = `latin_${process.pid}`;
  await owner.unsafe(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  const url = Object.assign(new URL(environmentOf(db)["MIGRATION_DATABASE_URL"] ?? ""), {
    pathname: name,
  });
  const rig = { ...(await aRig(t)), DATABASE_URL: url.href, MIGRATION_DATABASE_URL: "" };
  await assert.rejects(startProgram(t, rig), /encoding of the database is LATIN1.*encoding 'UTF8'/);
  const { rowCount } = await aLook(
    url.href,
    "select from pg_class where relname = 'organizations'",
  );
  assert.equal(rowCount, 0);
  await owner.unsafe(`drop database ${name} with (force)`);
});

async function aLook(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(statement).finally(() => client.end());
}

const DEAD = "deliveries?state=dead_lettered";

async function until<Found>(find: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await sleep(20);
  }
}

function assertRecent(time: unknown): void {
  const agoMs = Date.now() - Date.parse(String(time));
  assert.ok(Math.abs(agoMs) < DAY_MS / 24, String(time));
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
}

test("two processes answer 600 requests of one key at once under repeatable read", async (t) => {
  const rig = await aHostileRig(t);
  const programs = [await startProgram(t, rig), await startProgram(t, rig)] as const;
  const { token } = await aPartner(programs[0], "acme");
  const answers = await Promise.all(
    Array.from({ length: 600 }, (_, i) =>
      call(`${programs[i % 2 ? 1 : 0].partnerUrl}/api/v1/partner/me`, { token }),
    ),
  );
  assert.deepEqual([...new Set(answers.map((a) => a.status))], [200]);
});
