import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Database } from "../../src/postgres/database.ts";
import { openPool } from "../support/database.ts";
import { aFolder, typeFile } from "../support/event-types.ts";
import { aGateway } from "../support/gateway.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { assertUnavailable } from "../support/rig.ts";

const TYPE = "order.created";
const SCHEMA = { type: "object", properties: { amount: { type: "integer" } } };

const anEvent = (organization: string, data: object = {}) => ({
  ...{ organization, type: TYPE, data, dedupe_key: `of-${organization}` },
});

/** Two cells, with a partner in each that is subscribed to orders. */
async function twoPublishers(t: TestContext) {
  const types = await aFolder(t, { [`${TYPE}.json`]: typeFile(SCHEMA) });
  const gateway = await aGateway(t, ["00", "01"], {
    ...{ EVENT_TYPES: types, RETRY_DELAYS: "1ms" },
  });
  const receiver = await startLocalReceiver(t);
  receiver.answer(({ response }) => response.writeHead(204).end());
  for (const [name, slug] of [
    ["00", "one"],
    ["01", "two"],
  ] as const) {
    const { ask } = await gateway.partnerIn(name, slug);
    const body = { url: receiver.url(`/${slug}`), events: [TYPE] };
    assert.equal((await ask("/webhooks", { method: "POST", body })).status, 201);
  }
  const ownerOf = (name: string) =>
    openPool(t, gateway.cell(name).env["MIGRATION_DATABASE_URL"] ?? "");
  const publish = (events: unknown) => gateway.ask("/events", { method: "POST", body: { events } });
  return { ...gateway, receiver, publish, one: ownerOf("00"), two: ownerOf("01") };
}

function countOrders(db: Database): Promise<number> {
  return db`select from events where type = ${TYPE}`.then((rows) => rows.length);
}

const detailsOf = (body: Record<string, unknown>) =>
  (body["errors"] as { pointer: string; detail: string }[]).map(
    ({ pointer, detail }) => `${pointer} ${detail}`,
  );

test("events go to the cells of their organizations", async (t) => {
  const rig = await twoPublishers(t);
  const { ask, publish, operatorUrl, one, two } = rig;
  const fresh = (organization: string, data?: object) => ({
    ...anEvent(organization, data),
    dedupe_key: undefined,
  });

  await t.test(
    "every fault has its place in the caller's batch, and nothing is written",
    async () => {
      const { status, body } = await publish([
        fresh("one"),
        fresh("two", { amount: "1" }),
        fresh("nobody"),
        fresh("one", { amount: 0.5 }),
        7,
        { organization: "two" },
      ]);
      assert.equal(status, 422);
      assert.deepEqual(detailsOf(body), [
        "/events/1/data/amount must be an integer",
        "/events/2/organization must be the id or the slug of an organization",
        "/events/3/data/amount must be an integer",
        "/events/4 must be an object",
        "/events/5/data is required",
        "/events/5/type is required",
      ]);
      assert.deepEqual([await countOrders(one), await countOrders(two)], [0, 0]);
    },
  );

  await t.test("what parsing would hide is refused, too", async () => {
    const post = (text: string) =>
      fetch(`${operatorUrl}/api/v1/admin/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
        body: text,
      });
    const event = (organization: string, data: string) =>
      `{"organization":"${organization}","type":"${TYPE}","data":${data}}`;
    const twice = '{"amount":"1","amount":"2"}';
    const answer = await post(`{"events":[${event("one", "{}")},${event("two", twice)}]}`);
    assert.equal(answer.status, 422);
    const text = await answer.text();
    assert.match(text, /"\/events\/1\/data\/amount"/);
    assert.doesNotMatch(text, /must be an integer/, "such data is not checked further");
    assert.equal((await post("{")).status, 400);
    assert.equal((await post("")).status, 400);
    assert.deepEqual([await countOrders(one), await countOrders(two)], [0, 0]);
  });

  await t.test("a check publishes nothing", async () => {
    for (const body of [{ events: [fresh("one"), fresh("two")] }, fresh("two")])
      assert.equal((await ask("/events?check=true", { method: "POST", body })).status, 204);
    assert.equal(
      (await ask("/events?check=1", { method: "POST", body: fresh("two") })).status,
      422,
    );
    assert.deepEqual([await countOrders(one), await countOrders(two)], [0, 0]);
  });

  await t.test("items have the order of the events", async () => {
    const events = [fresh("two"), fresh("one"), fresh("two"), fresh("one")];
    const { status, body } = await publish(events);
    assert.equal(status, 202, JSON.stringify(body));
    const items = body["items"] as { event_id: string; deliveries: number }[];
    for (const [i, { event_id: id, deliveries }] of items.entries()) {
      assert.equal(deliveries, 1);
      assert.equal((await ask(`/events/${id}`)).body["organization"], events[i]?.organization);
    }
    assert.equal(items.length, 4);
  });

  await t.test("one event is published with one request to its cell", async () => {
    const { status, body } = await ask("/events", { method: "POST", body: fresh("two") });
    assert.equal(status, 202, JSON.stringify(body));
    assert.equal((await ask(`/events/${String(body["event_id"])}`)).body["organization"], "two");
    const lists = [
      { events: [] },
      { events: 7 },
      { events: Array.from({ length: 1_001 }, () => ({})) },
    ];
    for (const list of lists)
      assert.equal((await ask("/events", { method: "POST", body: list })).status, 422);
  });

  await t.test(
    "a batch of which a cell fails is refused, and its repetition publishes each event once",
    () => repeatWhatFailed(rig),
  );
  await t.test("a redelivery job runs in the cell of its organization", () => redeliver(rig));
});

type Rig = Awaited<ReturnType<typeof twoPublishers>>;

async function repeatWhatFailed({ publish, cell, one, two }: Rig): Promise<void> {
  const before = [await countOrders(one), await countOrders(two)] as const;
  const events = [anEvent("one"), anEvent("two")];

  await cell("01").gate.close();
  assertUnavailable(await publish(events));
  assert.equal(
    await countOrders(one),
    before[0],
    "the batch is checked before anything is written",
  );
  const unknown = await publish([anEvent("nobody")]);
  assert.equal(unknown.status, 503, "the cell that is away may have the organization");
  await cell("01").gate.open();

  await two.unsafe(`
    create function fail() returns trigger language plpgsql as
      $$ begin raise exception 'no' using errcode = 'cannot_connect_now'; end $$;
    create trigger fail before insert on events for each row execute function fail()`);
  let refused = await publish(events);
  while (!String(refused.body["detail"]).includes("may not be")) refused = await publish(events);
  assertUnavailable(refused);
  assert.match(String(refused.body["detail"]), /Cell 01 failed, so some events may not be/);
  assert.equal(await countOrders(one), before[0] + 1);
  await two.unsafe("drop function fail cascade");

  let repeated = await publish(events);
  while (repeated.status === 503) repeated = await publish(events);
  assert.equal(repeated.status, 202, JSON.stringify(repeated.body));
  const duplicates = (repeated.body["items"] as { duplicate: boolean }[]).map(
    (one) => one.duplicate,
  );
  assert.deepEqual(duplicates, [true, false]);
  assert.deepEqual(
    [await countOrders(one), await countOrders(two)],
    before.map((n) => n + 1),
  );
}

async function redeliver({ ask, receiver }: Rig): Promise<void> {
  const since = new Date().toISOString();
  receiver.answer(({ response }) => response.writeHead(500).end());
  const event = { ...anEvent("two"), dedupe_key: "redelivered" };
  assert.equal((await ask("/events", { method: "POST", body: event })).status, 202);
  const dead = "/deliveries?organization=two&state=dead_lettered";
  while (((await ask(dead)).body["items"] as unknown[]).length === 0);

  const arrived: unknown[] = [];
  receiver.answer(({ response }) => {
    arrived.push(response);
    response.writeHead(204).end();
  });
  const filter = { organization: "two", since };
  const preview = await ask("/redeliveries", { method: "POST", body: { filter, dry_run: true } });
  assert.deepEqual([preview.status, preview.body["count"]], [200, 1]);
  const made = await ask("/redeliveries", { method: "POST", body: { filter } });
  assert.equal(made.status, 202, JSON.stringify(made.body));
  const job = () => ask(`/redeliveries/${String(made.body["id"])}`);
  while ((await job()).body["state"] !== "finished");
  while (arrived.length === 0) await job();
  const unknown = { filter: { organization: "nobody" } };
  assert.equal((await ask("/redeliveries", { method: "POST", body: unknown })).status, 404);
  assert.equal((await ask("/redeliveries", { method: "POST", body: { filter: {} } })).status, 422);
}
