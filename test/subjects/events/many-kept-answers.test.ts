import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { deleteExpiredKeys } from "../../../src/jobs/maintenance.ts";
import { after } from "../../../src/lib/clock.ts";
import { publicId } from "../../../src/lib/ids.ts";
import type { Database, Queryable } from "../../../src/postgres/database.ts";
import { deleteOldAnswers } from "../../../src/postgres/expired-rows.ts";
import type { Dependencies } from "../../../src/subjects/dependencies.ts";
import { insertKeptAnswer, type KeptAnswer } from "../../../src/subjects/events/idempotency-sql.ts";
import { rowNameOf } from "../../../src/subjects/events/idempotency.ts";
import { ANSWER_KEPT_MS } from "../../../src/subjects/events/rules.ts";
import { closeOrganization } from "../../../src/subjects/organizations/work.ts";
import { type KeyRing, seal } from "../../../src/subjects/secrets/rules.ts";
import { reseal } from "../../../src/subjects/secrets/work.ts";
import { deleteSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { watched } from "../../simulation/watched.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { anOrganization, aSubscription, createEngine } from "../../support/engine.ts";

const MANY = 100_000;
const FEW_ROWS = 20;
const db = await createDatabase();
const old = { id: "old", key: randomBytes(32) };
const { deps, clock } = await createEngine(db, { ring: [old] });
const organizationId = await anOrganization(deps);
const doomed = await aSubscription(deps, organizationId);
const other = await aSubscription(deps);
await keepMany(doomed.id);
await ownerOf(db)`vacuum analyze kept_answers`;

/** The stored answers of a busy organization: its test calls, and answers of deleted subscriptions. */
async function keepMany(subscriptionId: string): Promise<void> {
  const keys = Array.from({ length: MANY / 2 }, (_, i) => `key-${i}`);
  const sealed = keys.map((key) => {
    const place = { organizationId, route: "sendTestEvent", key } as const;
    return seal(deps.ring, rowNameOf(place), '{"event_id":"evt_1"}').toString("hex");
  });
  await db`
    insert into kept_answers (organization_id, route, key, request_hash, subscription_id, at, sealed_answer)
    select ${organizationId}, 'sendTestEvent', key, ${Buffer.alloc(32)}, ${subscriptionId}, ${deps.clock()}, decode(sealed, 'hex')
      from unnest(${keys}::text[], ${sealed}::text[]) as kept (key, sealed)`;
  await db`
    insert into kept_answers (organization_id, route, key, request_hash, subscription_id, at)
    select ${organizationId}, 'createSubscription', 'gone-' || n, ${Buffer.alloc(32)}, gen_random_uuid(), ${deps.clock()}
      from generate_series(1, ${MANY / 2}::int) as n`;
}

/** Keeps the answer with the secret of a subscription. Fails if it has to wait for a lock. */
async function keepSecret(
  tx: Queryable,
  key: string,
  subscription: { id: string; organizationId: string } = other,
): Promise<void> {
  const { organizationId } = subscription;
  const place = { organizationId, route: "createSubscription", key } as const;
  const answer: KeptAnswer = {
    ...place,
    requestHash: Buffer.alloc(32),
    subscriptionId: subscription.id,
    sealedAnswer: seal(deps.ring, rowNameOf(place), '{"secret":"whsec_1"}'),
    at: deps.clock(),
  };
  const expired = after(deps.clock(), -ANSWER_KEPT_MS);
  assert.ok(await insertKeptAnswer(tx, answer, { expired, waitMs: 1 }));
}

/** Runs the work in one transaction. Another organization keeps an answer meanwhile. Returns the rows that the work has read. */
async function readBy(name: string, work: (deps: Dependencies) => Promise<unknown>) {
  return db.begin(async (tx) => {
    const before = await rowsRead(tx);
    const inside = Object.assign(tx, {
      begin: (work: (tx: Queryable) => unknown) => work(tx),
      of: () => inside,
    }) as unknown as Database;
    await work({ ...deps, db: inside });
    await db.begin((beside) => keepSecret(beside, name));
    return (await rowsRead(tx)) - before;
  });
}

/** The rows that this connection has read and not reported yet, which includes earlier transactions. */
async function rowsRead(tx: Queryable): Promise<number> {
  const [row] = await tx<[{ read: number }]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables where relname = 'kept_answers'`;
  return row.read;
}

async function secretsLeft(): Promise<number> {
  const rows = await db`
    select from kept_answers
     where organization_id = ${organizationId} and route = 'createSubscription' and sealed_answer is not null`;
  return rows.length;
}

test("deleting one of an organization's subscriptions reads a few of its 100,000 answers", async () => {
  await db.begin((tx) => keepSecret(tx, "doomed", doomed));
  assert.equal(await secretsLeft(), 1);
  const read = await readBy("deletion", (within) =>
    deleteSubscription(within, organizationId, doomed.id),
  );
  assert.ok(read <= FEW_ROWS, `${read} rows`);
  assert.equal(await secretsLeft(), 0);
});

test("resealing reads 100,000 answers in transactions of 100", async () => {
  const ring: KeyRing = [{ id: "new", key: randomBytes(32) }, old];
  await db.begin((tx) => keepSecret(tx, "before"));
  await db`
    update kept_answers set sealed_answer = null
     where organization_id = ${organizationId} and route = 'sendTestEvent' and key > 'key-2'`;
  const [sealed] = await db<[{ count: number }]>`
    select count(*)::int as count from kept_answers where sealed_answer is not null`;
  let statements = 0;
  const counting = watched(db, () => {
    statements++;
    return Promise.resolve();
  });
  const { resealed, unreadable } = await reseal({ db: counting, ring });
  assert.equal(unreadable, 0);
  assert.ok(resealed >= sealed.count);
  assert.ok(statements >= resealed + sealed.count / 100, `${statements} statements`);
});

test("closing an organization reads a few of its 100,000 answers", async () => {
  const subscriptions = [];
  for (const key of ["one", "two"]) {
    const subscription = await aSubscription(deps, organizationId);
    await db.begin((tx) => keepSecret(tx, key, subscription));
    subscriptions.push(subscription);
  }
  const read = await readBy("closing", (within) =>
    closeOrganization(within, publicId("org", organizationId)),
  );
  assert.ok(read <= FEW_ROWS, `${read} rows`);
  assert.equal(await secretsLeft(), 0);
});

test("100,000 expired answers are deleted in batches of 5,000 without blocking anybody", async () => {
  clock.advance(ANSWER_KEPT_MS + 60_001);
  await db.begin(async (tx) => {
    const before = await kept(tx);
    assert.ok(before >= MANY);
    assert.equal(await deleteOldAnswers(tx, after(deps.clock(), -ANSWER_KEPT_MS - 60_000)), true);
    assert.equal(before - (await kept(tx)), 5_000);
    await db.begin((beside) => keepSecret(beside, "retention"));
  });
  await deleteExpiredKeys(deps);
  assert.equal(await kept(db), 1);
});

async function kept(on: Queryable): Promise<number> {
  const [row] = await on<[{ count: number }]>`select count(*)::int as count from kept_answers`;
  return row.count;
}

test("keeping an answer does not change how long its transaction waits for locks", async () => {
  await db.begin(async (tx) => {
    await keepSecret(tx, "waits");
    const [row] = await tx<[{ wait: string }]>`select current_setting('lock_timeout') as wait`;
    assert.equal(row.wait, "0");
  });
});
