import assert from "node:assert/strict";
import { test } from "node:test";
import { isInUse } from "../../../src/postgres/database.ts";
import { publish, publishAtOnce } from "../../../src/subjects/events/publish.ts";
import type { NewEvent } from "../../../src/subjects/events/rules.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import { anEngineWith, anOrganization } from "../../support/engine.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const db = await createDatabase();
const HOUR_MS = 3_600_000;

async function aPublisher() {
  const engine = await anEngineWith(db);
  const { organization } = engine;
  const event = (dedupeKey?: string, organizationId = organization): NewEvent => ({
    ...{ organizationId, type: "vc.test.ping", data: "{}" },
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
  });
  const send = (...events: NewEvent[]) => publishAtOnce(engine.deps, events);
  return { ...engine, event, send };
}

async function countOf(organizationId: string) {
  const [row] = await db<[{ events: number; deliveries: number }]>`
    select (select count(*) from events where organization_number = (select number from organizations where id = ${organizationId}))::int as events,
           (select count(*) from waiting_deliveries where organization_id = ${organizationId})::int as deliveries`;
  return { ...row };
}

test("a second event with a key is a duplicate: it returns the first id and writes nothing", async () => {
  const { event, send, organization } = await aPublisher();
  const [first] = await send(event("order-1"));
  assert.ok(first);
  assert.deepEqual([first.isDuplicate, first.subscriptionIds.length], [false, 1]);
  assert.deepEqual(await send(event("order-1")), [
    { eventId: first.eventId, isDuplicate: true, subscriptionIds: [] },
  ]);
  assert.deepEqual(await countOf(organization), { events: 1, deliveries: 1 });
});

test("a key belongs to one organization, and an event without a key is never a duplicate", async () => {
  const { deps, event, send } = await aPublisher();
  const other = await anOrganization(deps);
  const published = await send(event("k"), event("k", other), event(), event());
  assert.deepEqual(column(published, "isDuplicate"), [false, false, false, false]);
});

test("in one batch the first event takes the key, and the others return its id in order", async () => {
  const { event, send, organization } = await aPublisher();
  const published = await send(event("b"), event("a"), event("b"), event(), event("a"), event("b"));
  const [b, a] = published;
  assert.deepEqual(column(published, "isDuplicate"), [false, false, true, false, true, true]);
  assert.deepEqual(
    [published[2], published[4], published[5]].map((one) => one?.eventId),
    [b?.eventId, a?.eventId, b?.eventId],
  );
  assert.deepEqual(await countOf(organization), { events: 3, deliveries: 3 });
});

test("a key expires after exactly 24 hours, and then identifies the new event", async () => {
  const { clock, event, send } = await aPublisher();
  const [first] = await send(event("daily"));
  clock.advance(24 * HOUR_MS - 1);
  assert.equal((await send(event("daily")))[0]?.eventId, first?.eventId);
  clock.advance(1);
  const [second] = await send(event("daily"));
  assert.deepEqual([second?.isDuplicate, second?.eventId === first?.eventId], [false, false]);
  clock.advance(24 * HOUR_MS - 1);
  assert.deepEqual(await send(event("daily")), [
    { eventId: second?.eventId, isDuplicate: true, subscriptionIds: [] },
  ]);
});

test("if two publishers take an expired key at once, the second gets the first's event", async () => {
  const { clock, event, send } = await aPublisher();
  await send(event("race"));
  clock.advance(24 * HOUR_MS);
  const published = (await Promise.all([1, 2, 3, 4].map(() => send(event("race"))))).flat();
  assert.equal(new Set(published.map((one) => one.eventId)).size, 1);
  assert.equal(published.filter((one) => !one.isDuplicate).length, 1);
});

for (const end of ["commits", "rolls back"] as const) {
  test(`a second publisher waits until the first one ${end}`, async () => {
    const { deps, event, send, organization } = await aPublisher();
    let first = "";
    let second: ReturnType<typeof send> | undefined;
    const transaction = db.begin(async (tx) => {
      first = (await publish(deps, tx, [event("k")]))[0]?.eventId ?? "";
      second = send(event("k"));
      await untilBlocked(db);
      if (end === "rolls back") throw new Error("the publisher's own");
    });
    await transaction.catch((error: unknown) => {
      if (end === "commits") throw error;
    });
    const [published] = (await second) ?? [];
    assert.equal(published?.isDuplicate, end === "commits");
    assert.equal(published.eventId === first, end === "commits");
    assert.deepEqual(await countOf(organization), { events: 1, deliveries: 1 });
  });
}

test("a publisher that waits for a key gives up its slots at the limit, and has written nothing", async () => {
  const { deps, event, organization } = await aPublisher();
  await db.begin(async (tx) => {
    await publish(deps, tx, [event("k")]);
    const waiting = publishAtOnce(deps, [event("other"), event("k")], 20);
    await assert.rejects(waiting, (error) => isInUse(error));
  });
  assert.deepEqual(await countOf(organization), { events: 1, deliveries: 1 });
  assert.equal((await publishAtOnce(deps, [event("other")], 20))[0]?.isDuplicate, false);
});
