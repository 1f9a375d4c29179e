import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { deleteExpiredKeys } from "../../../src/jobs/maintenance.ts";
import { parseId } from "../../../src/lib/ids.ts";
import { deleteSubscription as operatorDeletes } from "../../../src/subjects/subscriptions/work.ts";
import { column } from "../../support/columns.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import {
  aCaller,
  codeOf,
  post,
  replayed,
  subscribe,
  WANTED,
  WEBHOOKS,
} from "../../support/keyed-requests.ts";
import { EVENTS } from "../../support/partner-api.ts";

const db = await createDatabase();

const HOUR_MS = 3_600_000;
test("a repeated creation gets the first answer byte for byte, including its secret", async (t) => {
  const { api, caller, count } = await aCaller(t, db);
  const first = await subscribe(api, caller, "k");
  assert.equal(first.statusCode, 201);
  assert.equal(replayed(first), undefined);

  const again = await subscribe(api, caller, "k");
  assert.equal(again.statusCode, 201);
  assert.equal(again.body, first.body);
  assert.equal(again.headers["content-type"], first.headers["content-type"]);
  assert.equal(replayed(again), "true");
  assert.equal(await count("subscriptions"), 1);

  const plain = await subscribe(api, caller, null);
  assert.equal(plain.statusCode, 201);
  assert.equal(plain.headers["content-type"], first.headers["content-type"]);
  assert.deepEqual(Object.keys(plain.json()), Object.keys(first.json()));
  const { secret } = first.json<{ secret: string }>();
  const { id } = first.json<{ id: string }>();
  assert.equal((await post(api, caller, `/${id}/test`, { secret }, null)).statusCode, 200);
});

test("a repeated test call gets the first event's id and publishes nothing", async (t) => {
  const { api, caller, count } = await aCaller(t, db);
  const { id, secret } = await api.aSubscriptionOf(caller);
  const first = await post(api, caller, `/${id}/test`, { secret }, "k");
  assert.equal(first.statusCode, 200, first.body);
  assert.deepEqual(api.nudged, [id.slice(3)]);
  const again = await post(api, caller, `/${id}/test`, { secret }, "k");
  assert.deepEqual([again.statusCode, again.body, replayed(again)], [200, first.body, "true"]);
  assert.deepEqual([await count("events"), await count("waiting_deliveries")], [1, 1]);
  assert.deepEqual(api.nudged, [id.slice(3)]);

  const other = await post(api, caller, `/${id}/test`, { secret }, "another");
  assert.notEqual(other.body, first.body);
});

test("a key with another body or path is refused, and remains valid for its own request", async (t) => {
  const { api, caller } = await aCaller(t, db);
  const first = await subscribe(api, caller, "k");
  const other = await subscribe(api, caller, "k", { ...WANTED, url: "https://other.example.com/" });
  assert.deepEqual([other.statusCode, codeOf(other)], [422, "idempotency_key_reused"]);
  assert.equal((await subscribe(api, caller, "k")).body, first.body);

  const { id, secret } = first.json<{ id: string; secret: string }>();
  const unknown = `wh_${randomUUID()}`;
  assert.equal((await post(api, caller, `/${id}/test`, { secret }, "k")).statusCode, 200);
  const elsewhere = await post(api, caller, `/${unknown}/test`, { secret }, "k");
  assert.deepEqual([elsewhere.statusCode, codeOf(elsewhere)], [422, "idempotency_key_reused"]);
});

test("a key belongs to its organization", async (t) => {
  const { api, caller } = await aCaller(t, db);
  const other = await api.aKeyWith("webhooks:manage");
  const [ours, theirs] = [await subscribe(api, caller, "k"), await subscribe(api, other, "k")];
  assert.equal(theirs.statusCode, 201);
  assert.equal(replayed(theirs), undefined);
  assert.notEqual(theirs.body, ours.body);
  const second = await api.aKeyOf({ id: caller.organizationId }, "webhooks:manage");
  assert.equal((await subscribe(api, second, "k")).body, ours.body);
});

test("a malformed key is refused together with the faults of the body", async (t) => {
  const { api, caller, count } = await aCaller(t, db);
  const malformed = ["", " ", "a b", "ä", "x".repeat(256), "a, b"];
  for (const key of malformed) {
    const answer = await subscribe(api, caller, key, { events: EVENTS });
    assert.equal(answer.statusCode, 422, key);
    const { errors } = answer.json<{ errors: { pointer: string }[] }>();
    assert.deepEqual(column(errors, "pointer"), ["/Idempotency-Key", "/url"], key);
  }
  assert.equal((await subscribe(api, caller, "")).statusCode, 422);
  for (const key of ["!", "~".repeat(255)]) {
    assert.equal((await subscribe(api, caller, key)).statusCode, 201, key);
  }
  assert.equal(await count("subscriptions"), 2);
});

test("a key is new after exactly 24 hours", async (t) => {
  const { api, caller } = await aCaller(t, db);
  const first = await subscribe(api, caller, "k");
  api.clock.advance(24 * HOUR_MS - 1);
  assert.equal((await subscribe(api, caller, "k")).body, first.body);
  api.clock.advance(1);
  const second = await subscribe(api, caller, "k", { ...WANTED, url: "https://new.example.com/" });
  assert.deepEqual([second.statusCode, replayed(second)], [201, undefined]);
});

test("a refusal is not stored", async (t) => {
  const { api, caller } = await aCaller(t, db, 1);
  const { id, secret } = await api.aSubscriptionOf(caller);
  assert.equal(codeOf(await subscribe(api, caller, "k")), "subscription_limit");
  await db`update subscriptions set auto_disabled_at = ${api.clock()} where id = ${id.slice(3)}`;
  const ping = () => post(api, caller, `/${id}/test`, { secret }, "k");
  assert.equal(codeOf(await ping()), "subscription_inactive");
  assert.equal(
    codeOf(await post(api, caller, `/${id}/test`, { secret: "no" }, "k2")),
    "subscription_inactive",
  );
  await db`update subscriptions set auto_disabled_at = null where id = ${id.slice(3)}`;
  assert.equal((await ping()).statusCode, 200);
  await operatorDeletes(api.deps, null, parseId("wh", id));
  assert.equal((await subscribe(api, caller, "k")).statusCode, 201);
});

test("a replay needs no room, no look-up and no active subscription", async (t) => {
  const { api, caller } = await aCaller(t, db, 1);
  const first = await subscribe(api, caller, "k");
  assert.equal((await subscribe(api, caller, "k")).body, first.body);
  const { id, secret } = first.json<{ id: string; secret: string }>();
  const ping = () => post(api, caller, `/${id}/test`, { secret }, "k");
  const event = await ping();
  await db`update subscriptions set auto_disabled_at = ${api.clock()} where id = ${id.slice(3)}`;
  assert.equal((await ping()).body, event.body);
});

test("a replay counts against the rate limit", async (t) => {
  const { api } = await aCaller(t, db);
  const caller = await api.aKeyOf(
    await api.anOrganization({ rateLimitPerMinute: 2 }),
    "webhooks:manage",
  );
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await subscribe(api, caller, "k")).statusCode);
  assert.deepEqual(statuses, [201, 201, 429]);
});

test("deleting a subscription erases its stored responses, and their keys get 404", async (t) => {
  for (const who of ["partner", "operator"]) {
    const { api, caller, count } = await aCaller(t, db);
    const first = await subscribe(api, caller, "k");
    const { id, secret } = first.json<{ id: string; secret: string }>();
    await post(api, caller, `/${id}/test`, { secret }, "k");
    if (who === "operator") await operatorDeletes(api.deps, null, parseId("wh", id));
    else {
      const headers = { authorization: caller.authorization };
      await api.inject({ method: "DELETE", url: `${WEBHOOKS}/${id}`, headers });
    }

    const rows = await db<{ sealed_answer: Buffer | null }[]>`
      select sealed_answer from kept_answers
       where organization_id = ${caller.organizationId} and route = 'createSubscription'`;
    assert.deepEqual(
      rows.map((row) => row.sealed_answer),
      [null],
      "nothing of the answer with the secret is left",
    );
    for (const answer of [
      await subscribe(api, caller, "k"),
      await post(api, caller, `/${id}/test`, { secret }, "k"),
    ]) {
      assert.deepEqual([answer.statusCode, codeOf(answer)], [404, "not_found"], who);
    }
    const other = await subscribe(api, caller, "k", { ...WANTED, url: "https://b.example.com/" });
    assert.equal(codeOf(other), "idempotency_key_reused");
    assert.equal(await count("subscriptions"), 1);
  }
});

test("a request without a key needs no additional statement", async (t) => {
  const { api, caller } = await aCaller(t, db);
  const { id, secret } = await api.aSubscriptionOf(caller);
  await ownerOf(db)`alter table kept_answers rename to kept_answers_away`;
  try {
    assert.equal((await subscribe(api, caller, null)).statusCode, 201);
    assert.equal((await post(api, caller, `/${id}/test`, { secret }, null)).statusCode, 200);
    assert.equal((await subscribe(api, caller, "k")).statusCode, 500);
  } finally {
    await ownerOf(db)`alter table kept_answers_away rename to kept_answers`;
  }
});

test("a stored response is sealed, and opens only in its own row", async (t) => {
  const { api, caller } = await aCaller(t, db);
  const first = await subscribe(api, caller, "k");
  const { secret } = first.json<{ secret: string }>();
  const [row] = await db<[{ sealed_answer: Buffer }]>`
    select sealed_answer from kept_answers where organization_id = ${caller.organizationId}`;
  assert.equal(row.sealed_answer.includes(secret), false);
  assert.equal(row.sealed_answer.includes("hooks.example.com"), false);
  await db`update kept_answers set sealed_answer = ${row.sealed_answer} where organization_id = ${caller.organizationId}`;
  await subscribe(api, caller, "other");
  await db`update kept_answers set sealed_answer = ${row.sealed_answer}
            where organization_id = ${caller.organizationId} and key = 'other'`;
  assert.equal((await subscribe(api, caller, "other")).statusCode, 500);
  assert.equal((await subscribe(api, caller, "k")).body, first.body);
});

test("the longest response can be stored", async (t) => {
  const { api, caller } = await aCaller(t, db);
  const url = `https://hooks.example.com/${'"😀'.repeat(1_000)}`.slice(0, 2_048);
  const first = await subscribe(api, caller, "k", { ...WANTED, url });
  assert.equal(first.statusCode, 201, first.body);
  assert.equal((await subscribe(api, caller, "k")).statusCode, 422);
  assert.equal((await subscribe(api, caller, "k", { ...WANTED, url })).body, first.body);
});

test("only expired responses are deleted, in batches", async (t) => {
  const { api, caller, count } = await aCaller(t, db);
  await subscribe(api, caller, "old");
  await db`
    insert into kept_answers (organization_id, route, key, request_hash, subscription_id, at)
    select organization_id, route, 'old' || n, request_hash, subscription_id, at
      from kept_answers, generate_series(1, 5001) n where organization_id = ${caller.organizationId}`;
  api.clock.advance(24 * HOUR_MS + 60_000);
  await deleteExpiredKeys(api.deps);
  assert.equal(await count("kept_answers"), 5_002, "not while a clock may be a minute wrong");
  api.clock.advance(1);
  await subscribe(api, caller, "young");
  await deleteExpiredKeys(api.deps);
  assert.equal(await count("kept_answers"), 1);
});
