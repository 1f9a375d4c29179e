import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../src/postgres/database.ts";
import { openPool } from "../support/database.ts";
import { startService } from "../support/service.ts";
import { eventIdOf } from "../support/receiver.ts";
import { type Answered, aPartner, aRig, assertUnavailable, aSubscriber } from "../support/rig.ts";

const LIMIT = { timeout: 90_000 };

/** The program with one subscription, and its database for the owner of the server. */
async function running(t: TestContext) {
  const rig = await aRig(t);
  const owner = openPool(t, rig["MIGRATION_DATABASE_URL"] ?? "", { max: 2, name: "test owner" });
  const program = await startService(t, rig);
  const { receiver, partner, subscription } = await aSubscriber(t, program, {
    rateLimitPerMinute: 100_000,
  });
  const told = () => program.log.filter(({ level }) => Number(level) >= 50);

  return {
    owner,
    told,
    readiness: () =>
      Promise.all(
        [program.partnerUrl, program.operatorUrl].map(
          async (url) => (await fetch(`${url}/readyz`)).status,
        ),
      ),
    subscription,
    role: new URL(rig["DATABASE_URL"] ?? "").username,
    receiver,
    partner,
    another: () => aPartner(program, "globex", { rateLimitPerMinute: 100_000 }),
    ping: () => partner.ping(subscription),
    /** Pings until one ping is accepted, and returns the event that arrives. */
    arrives: async () => {
      let answered = await partner.ping(subscription);
      for (; answered.status !== 200; answered = await partner.ping(subscription)) await sleep(20);
      for (;;) {
        const id = eventIdOf(await receiver.next());
        if (id === answered.body["event_id"]) return;
      }
    },
    /** The one error for operators, with the database's message. */
    complaint: async () => {
      while (told().length === 0) await sleep(20);
      assert.equal(told().length, 1, JSON.stringify(told()));
      const [{ msg, err } = {}] = told();
      assert.equal(msg, "the database is unavailable: deliveries wait and requests are refused");
      return err as { message: string; code?: string };
    },
  };
}

/** Makes every insert into this table fail as on a full disk. */
async function fillDisk(owner: Database, table: string): Promise<void> {
  await owner.unsafe(`
    create function no_space() returns trigger language plpgsql as $$
    begin
      raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
    end $$;
    create trigger no_space before insert on ${table} execute function no_space()`);
}

async function emptyDisk(owner: Database): Promise<void> {
  await owner`drop function no_space() cascade`;
}

test("a full disk refuses only new work", LIMIT, async (t) => {
  const { owner, partner, ping, arrives, complaint } = await running(t);
  await fillDisk(owner, "waiting_deliveries");
  for (let n = 0; n < 5; n++) assertUnavailable(await ping());
  assert.equal((await partner.ask("/me")).status, 200, "requests that only read are served");
  assert.equal((await complaint()).code, "53100");
  const [row] = await owner`select count(*)::int as events from events`;
  assert.deepEqual(row, { events: 0 }, "no half of an event is left");

  await emptyDisk(owner);
  await arrives();
});

test("an attempt that cannot be recorded on a full disk is made once", LIMIT, async (t) => {
  const { owner, receiver, ping, complaint } = await running(t);
  await fillDisk(owner, "finished_deliveries");
  assert.equal((await ping()).status, 200);
  await receiver.next();
  assert.equal((await complaint()).code, "53100");

  await emptyDisk(owner);
  const attempts = () => owner`select state, attempts from finished`;
  while ((await attempts()).length === 0) await sleep(20);
  assert.deepEqual([...(await attempts())], [{ state: "delivered", attempts: 1 }]);
  assert.equal(receiver.requests.length, 1);
});

test(
  "a database without a spare connection refuses requests, and serves them afterwards",
  LIMIT,
  async (t) => {
    const { owner, role, ping, arrives, complaint } = await running(t);
    await owner.unsafe(`alter role ${role} connection limit 0`);
    await owner`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`;
    for (let n = 0; n < 5; n++) assertUnavailable(await ping());
    await complaint();

    await owner.unsafe(`alter role ${role} connection limit -1`);
    await arrives();
  },
);

test("a cancelled statement leaves no partial work", LIMIT, async (t) => {
  const { owner, role, ping, arrives, complaint } = await running(t);
  const answered = await owner.begin(async (tx) => {
    await tx`lock table waiting_deliveries in share mode`;
    const pinging = ping();
    const ended = () => owner`
      select pg_cancel_backend(pid)
        from pg_stat_activity
       where usename = ${role} and wait_event_type = 'Lock' and query like '%with new as%'`; // The server keeps the first kilobyte.
    while ((await ended()).length === 0) await sleep(20);
    return pinging;
  });
  assertUnavailable(answered);
  assert.equal((await complaint()).code, "57014");
  const [row] = await owner`select count(*)::int as events from events`;
  assert.deepEqual(row, { events: 0 });
  await arrives();
});

test("while every connection of the pool waits, other requests are refused", LIMIT, async (t) => {
  const { owner, role, partner, another, arrives, complaint } = await running(t);
  const partners = [partner, await another()]; // A single organization gets half of the connections.
  const lists: Promise<Answered>[] = [];
  await owner.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`; // The lock must outlast the requests that wait for it.
    await tx`lock table subscriptions in access exclusive mode`;
    const waiting = () => owner`
      select from pg_stat_activity where wait_event_type = 'Lock' and usename = ${role}`;
    let answer: Answered;
    do {
      for (const { ask } of partners)
        lists.push(...Array.from({ length: 20 }, () => ask("/webhooks")));
      while ((await waiting()).length < 10) await sleep(20);
      answer = await partner.ask("/me");
    } while (answer.status === 200); // On a slow machine those that waited may have given up before.
    assertUnavailable(answer);
  });
  for (const { status } of await Promise.all(lists)) assert.ok([200, 503].includes(status));
  await complaint();
  await arrives();
});

test(
  "an organization that waits for its own connections is refused, and the service stays ready",
  LIMIT,
  async (t) => {
    const { owner, told, readiness, partner, ping, subscription } = await running(t);
    const keys = Array.from({ length: 150 }, () => randomUUID());
    await owner.begin(async (tx) => {
      // Each key is in use, so that each call keeps a connection for a second.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`
      insert into kept_answers (organization_id, route, key, request_hash, subscription_id, at, sealed_answer)
      select organization_id, 'sendTestEvent', unnest(${keys}::text[]), sha256(''), id, created_at, null
        from subscriptions`;
      const calls = keys.map((key) => partner.ping(subscription, key));
      const refused = (await Promise.all(calls)).filter(({ status }) => status !== 409);
      assert.ok(refused.length > 0, "the queue is longer than its calls may wait");
      for (const answer of refused) assertUnavailable(answer);
      assert.deepEqual(await readiness(), [200, 200]);
    });
    assert.equal((await ping()).status, 200);
    assert.deepEqual(told(), []);
  },
);

test("a role with few connections reduces only throughput", LIMIT, async (t) => {
  const { owner, role, partner, arrives } = await running(t);
  await owner.unsafe(`alter role ${role} connection limit 6`);
  await owner`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`;
  await arrives();
  const ask = async () => {
    for (let n = 0; n < 30; n++) assert.equal((await partner.ask("/webhooks")).status, 200);
  };
  await Promise.all(Array.from({ length: 30 }, ask));
});
