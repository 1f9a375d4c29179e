import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { timeOrderedId } from "../../../src/lib/ids.ts";
import { ERA } from "../../support/clock.ts";
import { createDatabase } from "../../support/database.ts";
import { startPartnerApi } from "../../support/partner-api.ts";

const db = await createDatabase();

interface Page {
  items: (Record<string, unknown> & { id: string; attempt: number })[];
  next_cursor: string | null;
}

const at = (seconds: number) => new Date(ERA.getTime() + seconds * 1000);

/** An attempt of a subscription, `seconds` after the era's beginning. */
async function anAttempt(
  subscription: { id: string },
  seconds: number,
  more: Record<string, unknown> = {},
): Promise<string> {
  const row = {
    id: timeOrderedId(at(seconds)),
    delivery_id: randomUUID(),
    subscription_id: subscription.id.slice(3),
    event_id: randomUUID(),
    event_type: "vc.test.ping",
    attempt: 1,
    http_status: 503,
    reason: "http_503",
    dead_lettered: false,
    duration_ms: 41,
    attempted_at: at(seconds),
    next_attempt_at: at(seconds + 60),
    ...more,
  };
  await db`insert into attempts ${db(row)}`;
  return `att_${row.id}`;
}

const api = startPartnerApi({ after }, db);
const key = await api.aKeyWith("webhooks:manage");

const read = async ({ id }: { id: string }, query = "") => {
  const url = `/api/v1/partner/webhooks/${id}/failures${query}`;
  const response = await api.inject({ url, headers: { authorization: key.authorization } });
  assert.equal(response.statusCode, 200, response.body);
  return response.json<Page>();
};

test("the audit shows each failed attempt with exactly the promised members, newest first", async () => {
  const subscription = await api.aSubscriptionOf(key);
  assert.deepEqual(await read(subscription), { items: [], next_cursor: null });

  const event_id = randomUUID();
  const first = await anAttempt(subscription, 1, { event_id, attempt: 3 });
  await anAttempt(subscription, 2, { http_status: 200, reason: null, next_attempt_at: null });
  const last = await anAttempt(subscription, 3, {
    event_id,
    attempt: 7,
    http_status: 0,
    reason: "timeout",
    detail: "response",
    dead_lettered: true,
    duration_ms: 10_000,
    next_attempt_at: null,
  });
  await anAttempt(await api.aSubscriptionOf(key), 4);

  const common = {
    subscription_id: subscription.id,
    event_id: `evt_${event_id}`,
    event_type: "vc.test.ping",
  };
  assert.deepEqual(await read(subscription), {
    items: [
      {
        id: last,
        ...common,
        attempt: 7,
        status: "dead_lettered",
        http_status: 0,
        reason: "timeout",
        detail: "response",
        duration_ms: 10_000,
        attempted_at: "2026-01-01T00:00:03.000Z",
        next_attempt_at: null,
      },
      {
        id: first,
        ...common,
        attempt: 3,
        status: "failed",
        http_status: 503,
        reason: "http_503",
        detail: null,
        duration_ms: 41,
        attempted_at: "2026-01-01T00:00:01.000Z",
        next_attempt_at: "2026-01-01T00:01:01.000Z",
      },
    ],
    next_cursor: null,
  });
});

test("pages show every record once, in order, while new ones are added", async () => {
  const subscription = await api.aSubscriptionOf(key);
  const ids: string[] = [];
  for (let i = 0; i < 11; i++) ids.unshift(await anAttempt(subscription, 5)); // All have the same time.

  const seen: string[] = [];
  let query = "?limit=4";
  for (let page = 1; ; page++) {
    const { items, next_cursor } = await read(subscription, query);
    seen.push(...items.map(({ id }) => id));
    if (next_cursor === null) {
      assert.equal(page, 3);
      break;
    }
    await anAttempt(subscription, 5 + page);
    query = `?limit=4&cursor=${encodeURIComponent(next_cursor)}`;
  }
  assert.deepEqual(seen, ids);
});

test("a page has 50 records by default and at most 200, and the last page has no cursor", async () => {
  const subscription = await api.aSubscriptionOf(key);
  for (let i = 0; i < 200; i++) await anAttempt(subscription, i);

  const sizeOf = async (query: string) => {
    const { items, next_cursor } = await read(subscription, query);
    return [items.length, next_cursor === null];
  };
  assert.deepEqual(await sizeOf(""), [50, false]);
  assert.deepEqual(await sizeOf("?limit=199"), [199, false]);
  assert.deepEqual(await sizeOf("?limit=200"), [200, true]);
});

test("the audit of a disabled subscription is still readable", async () => {
  const subscription = await api.aSubscriptionOf(key);
  await anAttempt(subscription, 1);
  await db`update subscriptions set auto_disabled_at = ${at(1)} where id = ${subscription.id.slice(3)}`;
  assert.equal((await read(subscription)).items.length, 1);
});
