// Depends on: src
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../src/postgres/database.ts";
import { keyIdOf, type KeyRing, seal } from "../../src/subjects/secrets/rules.ts";
import { verify } from "../../src/webhook/verify.ts";
import { openPool } from "../support/database.ts";
import { runProgram, spawnProgram, startProgram } from "../support/program.ts";
import { type Receiver, startLocalReceiver } from "../support/receiver.ts";
import { aPartner, aRig, partnerOf } from "../support/rig.ts";

const OLD = Buffer.alloc(32, "old");
const NEW = Buffer.alloc(32, "new");
const variable = (id: string, key: Buffer) => `${id}:${key.toString("base64")}`;
const BOTH = `${variable("new", NEW)},${variable("old", OLD)}`;

/** Three batches of a hundred: one is done, one is interrupted, and one is not begun. */
const SLEEPING = 300;

interface Subscription {
  id: string;
  secret: string;
}
type Partner = ReturnType<typeof partnerOf>;

/** Inserts subscriptions that are not in use, sealed under the old key. Returns their ids in order. */
async function insertSleeping(db: Database, ofWhom: Subscription): Promise<string[]> {
  const ring: KeyRing = [{ id: "old", key: OLD }];
  const ids = Array.from({ length: SLEEPING }, () => randomUUID()).sort();
  const sealed = ids.map((id) => seal(ring, id, "whsec_sleeping").toString("hex"));
  await db`
    insert into subscriptions (id, organization_id, url, events, sealed_secret, created_at)
    select n.id, s.organization_id, s.url, s.events, decode(n.sealed, 'hex'), s.created_at
      from unnest(${ids}::uuid[], ${sealed}::text[]) as n (id, sealed), subscriptions s
     where s.id = ${ofWhom.id.slice("wh_".length)}`;
  return ids;
}

async function countSealedUnder(db: Database, keyId: string): Promise<number> {
  const rows = await db<{ sealed_secret: Buffer }[]>`
    select sealed_secret from subscriptions where deleted_at is null`;
  return rows.filter((row) => keyIdOf(row.sealed_secret) === keyId).length;
}

/** Starts a resealing and kills it with -9 while it waits for this subscription. */
async function killAt(t: TestContext, db: Database, env: Record<string, string>, id: string) {
  await db.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`select from subscriptions where id = ${id} for update`;
    const resealing = spawnProgram(t, ["reseal"], env);
    while ((await waitingForALock(db)) === 0) {
      assert.equal(resealing.process.exitCode, null, "it ended before it met the lock");
      await delay(20);
    }
    await resealing.end("SIGKILL");
  });
}

/** Counts waiting sessions of this database only. */
async function waitingForALock(db: Database): Promise<number> {
  const { count } = await db`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return count;
}

/** Creates subscriptions and sends events to all of them until it is stopped. */
function keepBusy(partner: Partner, url: string, subscriptions: Subscription[]) {
  const accepted = new Map<string, Subscription>();
  const over = new AbortController();
  const done = (async () => {
    for (let i = 0; !over.signal.aborted; i++) {
      if (i % 10 === 0) subscriptions.push(await partner.subscribe(url));
      const subscription = subscriptions[i % subscriptions.length];
      assert.ok(subscription);
      const { status, body } = await partner.ping(subscription);
      assert.equal(status, 200, JSON.stringify(body));
      accepted.set(String(body["event_id"]), subscription);
    }
  })();
  const stop = async () => {
    over.abort();
    await done;
    return accepted;
  };
  return { stop };
}

/** Waits until every accepted event has arrived, and verifies each with the secret of its subscription. */
async function verifyAll(receiver: Receiver, accepted: Map<string, Subscription>): Promise<void> {
  for (const missing = new Set(accepted.keys()); missing.size > 0;) {
    const { headers, body } = await receiver.next();
    const { id } = JSON.parse(body.toString()) as { id: string };
    const secret = accepted.get(id)?.secret ?? "";
    assert.equal((await verify({ secret, headers, body })).verdict, "valid");
    missing.delete(id);
  }
}

test("a rotation of sealing keys under load survives a kill and loses or delays nothing", async (t) => {
  const rig = await aRig(t, { MAX_SUBSCRIPTIONS: "10000" });
  const db = openPool(t, rig["DATABASE_URL"] ?? "", { max: 2 });
  const receiver = await startLocalReceiver(t);
  const url = receiver.url("/hooks");

  const before = await startProgram(t, { ...rig, SEALING_KEYS: variable("old", OLD) });
  const { token, subscribe } = await aPartner(before, "acme", { rateLimitPerMinute: 1_000_000 });
  const subscriptions = [await subscribe(url), await subscribe(url)];
  const [first] = subscriptions;
  assert.ok(first);
  const sleeping = await insertSleeping(db, first);
  assert.equal(await before.end("SIGTERM"), 0);

  const env = { ...rig, SEALING_KEYS: BOTH };
  const during = await startProgram(t, env);
  const load = keepBusy(partnerOf(during, token), url, subscriptions);
  await killAt(t, db, env, sleeping[SLEEPING / 2] ?? "");
  const [done, left] = [await countSealedUnder(db, "new"), await countSealedUnder(db, "old")];
  assert.ok(done > 0 && left > 0, `${done} done, ${left} left when it was killed`);

  const again = await runProgram(["reseal", "--json"], env);
  assert.equal(again.status, 0, again.stderr);
  const { resealed } = JSON.parse(again.stdout) as { resealed: number };
  const accepted = await load.stop();
  // The server may still have executed the last statements of the killed process, one for each connection.
  assert.ok(resealed <= left && resealed >= left - 2, `${resealed} of the ${left} that were left`);
  assert.equal(await countSealedUnder(db, "old"), 0);
  await verifyAll(receiver, accepted);
  assert.ok(!during.log.some(({ level }) => Number(level) >= 50), "no error was logged");
  assert.equal(await during.end("SIGTERM"), 0);
  t.diagnostic(
    `${accepted.size} events and ${subscriptions.length} subscriptions during the rotation`,
  );

  const after = await startProgram(t, { ...rig, SEALING_KEYS: variable("new", NEW) });
  const { ping } = partnerOf(after, token);
  assert.equal((await ping(first)).status, 200);
  const { headers, body } = await receiver.next();
  assert.equal((await verify({ secret: first.secret, headers, body })).verdict, "valid");
});
