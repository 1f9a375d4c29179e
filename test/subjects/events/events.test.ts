import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { publicId } from "../../../src/lib/ids.ts";
import type { Page } from "../../../src/lib/page.ts";
import { publish, type PublishedView } from "../../../src/subjects/events/publish.ts";
import type { EventTypeView, EventView } from "../../../src/subjects/events/work.ts";
import { column, columns } from "../../support/columns.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { acknowledged } from "../../support/engine.ts";
import { PUBLISHER } from "../../support/operator-api.ts";
import { aPublisherApi } from "../../support/publisher-api.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const db = await createDatabase();
const HOUR_MS = 3_600_000;

test("an event reaches each active subscription that lists its type, as it was published", async (t) => {
  const { post, subscribe, order, deliverDue } = await aPublisherApi(t, db);
  await subscribe(["order.created"]);
  await subscribe(["note.added", "order.created"]);
  await subscribe(["note.added"]);
  const occurred_at = "2025-12-31T23:00:00.123Z";
  const { status, body } = await post({ ...order, occurred_at });
  assert.equal(status, 202);
  const { event_id, ...rest } = body as PublishedView;
  assert.match(event_id, /^evt_[0-9a-f-]{36}$/);
  assert.deepEqual(rest, { deliveries: 2, duplicate: false });

  const received: unknown[] = [];
  await deliverDue((sent) => {
    received.push(JSON.parse(sent.body.toString()));
    return acknowledged;
  });
  const events = received as { event: string; id: string; occurred_at: string; data: object }[];
  assert.equal(events.length, 2);
  for (const { event, id, occurred_at: at, data } of events) {
    assert.deepEqual(
      { event, id, at, data },
      { event: "order.created", id: event_id, at: occurred_at, data: { amount: 1 } },
    );
  }
});

test("an event reaches no subscription that is disabled or deleted", async (t) => {
  const { post, subscribe, order, clock } = await aPublisherApi(t, db);
  const [disabled, deleted] = [
    await subscribe(["order.created"]),
    await subscribe(["order.created"]),
  ];
  await db`update subscriptions set auto_disabled_at = ${clock()} where id = ${disabled.id}`;
  await db`
    update subscriptions set deleted_at = ${clock()}, sealed_secret = null where id = ${deleted.id}`;
  const { status, body } = await post(order);
  assert.deepEqual([status, (body as PublishedView).deliveries], [202, 0]);
});

test("an organization is named by id or slug, and an event without subscribers is stored", async (t) => {
  const { post, order, id, countEvents } = await aPublisherApi(t, db);
  for (const organization of [order.organization, publicId("org", id)]) {
    const { status, body } = await post({ ...order, organization });
    assert.deepEqual([status, (body as PublishedView).deliveries], [202, 0]);
  }
  assert.equal(await countEvents(), 2);
});

test("the response to a batch keeps its order, and a duplicate in it has the first event's id", async (t) => {
  const { post, order, subscribe } = await aPublisherApi(t, db);
  await subscribe(["order.created"]);
  const once = { ...order, dedupe_key: "once" };
  const note = { ...order, type: "note.added", data: {} };
  const { status, body } = await post({ events: [once, note, once] });
  assert.equal(status, 202);
  const { items } = body as { items: PublishedView[] };
  assert.deepEqual(columns(items, "deliveries", "duplicate"), [
    [1, false],
    [0, false],
    [0, true],
  ]);
  assert.equal(items[2]?.event_id, items[0]?.event_id);
  const again = (await post(once)).body as PublishedView;
  assert.deepEqual(again, { event_id: items[0]?.event_id, deliveries: 0, duplicate: true });
});

test("an event is shown with its deliveries in every state and for every role", async (t) => {
  const { post, ask, order, subscribe, deliverDue, slug, clock } = await aPublisherApi(t, db);
  await subscribe(["order.created"]);
  const { event_id } = (await post(order)).body as PublishedView;
  await deliverDue(() => acknowledged);
  const { status, body } = await ask({
    url: `events/${event_id}`,
    authorization: `Bearer ${PUBLISHER.token}`,
  });
  assert.equal(status, 200);
  const { deliveries, ...event } = body as EventView;
  assert.deepEqual(event, {
    id: event_id,
    organization: slug,
    type: "order.created",
    occurred_at: clock().toISOString(),
    published_at: clock().toISOString(),
    request_id: event.request_id,
    data: { amount: 1 },
  });
  assert.deepEqual(columns(deliveries, "event_id", "state", "attempts"), [
    [event_id, "delivered", 1],
  ]);
  for (const id of [
    publicId("evt", randomUUID()),
    "evt_x",
    "%00",
    event_id.replace("evt", "dlv"),
  ]) {
    assert.equal((await ask({ url: `events/${id}` })).status, 404, id);
  }
});

test("an event of an earlier release is shown with its numbers as they are stored", async (t) => {
  const { post, ask, order } = await aPublisherApi(t, db);
  const { event_id } = (await post(order)).body as PublishedView;
  const data = '{"big": 12345678901234567890, "long": 0.12345678901234567890, "none": 1e-400}';
  await ownerOf(db)`update events set data = ${data} where id = ${event_id.slice(4)}::uuid`;
  const { status, text } = await ask({ url: `events/${event_id}` });
  assert.equal(status, 200);
  assert.ok(text.includes(`"data":${data}`), text);
  assert.deepEqual((JSON.parse(text) as EventView).deliveries, []);
});

test("event types are listed with their use", async (t) => {
  const { ask, post, order, subscribe, clock } = await aPublisherApi(t, db);
  await db`update subscriptions set auto_disabled_at = ${clock()}`;
  await subscribe(["note.added", "order.created"]);
  await subscribe(["note.added"]);
  await db`delete from events`.catch(() => undefined);
  clock.advance(HOUR_MS);
  await post(order);
  const { body } = await ask({ url: "event-types" });
  const { items, next_cursor } = body as Page<EventTypeView>;
  assert.equal(next_cursor, null);
  assert.deepEqual(
    items.map(({ type, summary, subscriptions }) => ({ type, summary, subscriptions })),
    [
      { type: "note.added", summary: "A note was added", subscriptions: 2 },
      { type: "order.created", summary: "An order was placed", subscriptions: 1 },
      { type: "vc.test.ping", summary: "A test event, sent on request", subscriptions: 0 },
    ],
  );
  const order_created = items.find(({ type }) => type === "order.created");
  assert.equal(order_created?.last_published_at, clock().toISOString());
  assert.equal(items.at(-1)?.last_published_at, null);

  const first = (await ask({ url: "event-types?limit=2" })).body as Page<EventTypeView>;
  const rest = await ask({ url: `event-types?limit=2&cursor=${first.next_cursor ?? ""}` });
  const types = [...first.items, ...(rest.body as Page<EventTypeView>).items].map((i) => i.type);
  assert.deepEqual(types, ["note.added", "order.created", "vc.test.ping"]);
});

test("publishing waits for the transaction that holds its key, and delays no other publisher", async (t) => {
  const { post, order, deps, id } = await aPublisherApi(t, db);
  const event = { organizationId: id, type: "order.created", data: "{}", dedupeKey: "k" };
  let held = "";
  let waiting: ReturnType<typeof post>[] = [];
  await db.begin(async (tx) => {
    held = (await publish(deps, tx, [event]))[0]?.eventId ?? "";
    const keyed = { ...order, dedupe_key: "k" };
    waiting = [post(keyed), post({ events: [order, keyed] })];
    await untilBlocked(db);
    const others = [order, { ...order, dedupe_key: "other" }, { events: [order, order] }];
    const statuses = await Promise.all(others.map(async (body) => (await post(body)).status));
    assert.deepEqual(statuses, [202, 202, 202]);
  });
  const [one, batch] = await Promise.all(waiting);
  const first = publicId("evt", held);
  assert.deepEqual(one?.body, { event_id: first, deliveries: 0, duplicate: true });
  const { items } = batch?.body as { items: PublishedView[] };
  assert.deepEqual(column(items, "duplicate"), [false, true]);
});

test("erasing an event's data cancels its waiting deliveries, and the operator is logged", async (t) => {
  const { post, ask, order, subscribe, deliverDue, claim, clock, logged } = await aPublisherApi(
    t,
    db,
  );
  await subscribe(["order.created"]);
  await subscribe(["order.created"]);
  const publishOne = async () => ((await post(order)).body as PublishedView).event_id;
  const [id, other] = [await publishOne(), await publishOne()];
  const erase = (event: string) => ask({ method: "DELETE", url: `events/${event}/payload` });
  assert.equal((await erase(id)).status, 204);

  const { data, deliveries } = (await ask({ url: `events/${id}` })).body as EventView;
  assert.deepEqual(data, {});
  assert.deepEqual(columns(deliveries, "state", "attempts"), [
    ["cancelled", 0],
    ["cancelled", 0],
  ]);
  const sent = await deliverDue(({ body }) => {
    assert.match(body.toString(), new RegExp(other));
    return acknowledged;
  });
  assert.equal(sent, 2);
  const line = logged.find((one) => one["action"] === "erase_payload");
  assert.deepEqual([line?.["operator"], line?.["subject"]], ["alice", id]);

  const made = await ask({
    method: "POST",
    url: `deliveries/${deliveries[0]?.id ?? ""}/redeliver`,
  });
  assert.equal(made.status, 202);
  clock.advance(1);
  assert.equal((await erase(id)).status, 204);
  assert.deepEqual(await claim(), [], "a redelivery is cancelled, too");
  for (const unknown of [publicId("evt", randomUUID()), "evt_x"]) {
    assert.equal((await erase(unknown)).status, 404);
  }
});
