import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { parseId, publicId } from "../../../src/lib/ids.ts";
import type { Page } from "../../../src/lib/page.ts";
import type { Database, Queryable } from "../../../src/postgres/database.ts";
import {
  type DeliveryDetail,
  type DeliveryView,
  getDelivery,
} from "../../../src/subjects/deliveries/work.ts";
import { deleteSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  createEngine,
  publish,
  refused,
} from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const DAY_MS = 86_400_000;
const nudged: string[] = [];
const { deps, clock, deliverDue } = await createEngine(await createDatabase(), {
  nudge: (due) => nudged.push(...due.map((d) => d.subscriptionId)),
});
const { ask } = startOperatorApi({ after }, deps);

interface Problem {
  code: string;
  errors: { pointer: string; detail: string }[];
}

/** A subscription with one event, and the id of its delivery. */
async function aDelivery(organizationId?: string) {
  const subscription = await aSubscription(deps, organizationId);
  const [event = ""] = await publish(deps, subscription.organizationId);
  const [row] = await deps.db<{ id: string }[]>`
    select id from waiting_deliveries where event_id = ${event} and subscription_id = ${subscription.id}`;
  return { subscription, event: publicId("evt", event), id: publicId("dlv", row?.id ?? "") };
}

/** A delivery whose seven attempts are used up. */
async function aDeadLetter(organizationId?: string) {
  const delivery = await aDelivery(organizationId);
  for (let i = 0; i < 7; i++) {
    await deliverDue(() => refused);
    clock.advance(DAY_MS);
  }
  return delivery;
}

/** The same database, which runs `work` after the first statement that reads deliveries. */
function interleaved(db: Database, work: () => Promise<unknown>): Database {
  let isDone = false;
  const watch = <Sql extends Queryable>(sql: Sql): Sql =>
    new Proxy(sql, {
      apply: (target, self, given: unknown[]) => {
        const result = Reflect.apply(target, self, given) as unknown;
        const [strings] = given;
        const isRead = Array.isArray(strings) && strings.join("").includes('as "redeliveredAs"');
        if (!isRead || isDone) return result;
        isDone = true;
        return (result as Promise<unknown>).then(async (rows) => {
          await work();
          return rows;
        });
      },
      get: (target, property) =>
        property === "begin"
          ? (use: (tx: Queryable) => Promise<unknown>) => db.begin((tx) => use(watch(tx)))
          : (Reflect.get(target, property) as unknown),
    });
  return watch(db);
}

test("a delivery that ends while it is read is shown consistently with its attempts", async () => {
  const { id } = await aDelivery();
  await deliverDue(() => refused);
  clock.advance(DAY_MS);
  const db = interleaved(deps.db, () => deliverDue(() => acknowledged));
  const shown = await getDelivery({ db }, parseId("dlv", id));
  const after = await getDelivery(deps, parseId("dlv", id));
  const summary = ({ state, attempt_log }: DeliveryDetail) => [state, attempt_log.length];
  assert.deepEqual(summary(shown), ["waiting", 1]);
  assert.deepEqual(summary(after), ["delivered", 2]);
});

test("a delivery is shown with its failed and successful attempts", async () => {
  const { id, event, subscription } = await aDelivery();
  await deliverDue(() => refused);
  clock.advance(DAY_MS);
  await deliverDue(() => acknowledged);

  const { status, body } = await ask({ url: `deliveries/${id}` });
  assert.equal(status, 200);
  const { attempt_log, redeliveries, subscription: standing, ...delivery } = body as DeliveryDetail;
  assert.deepEqual(redeliveries, []);
  assert.equal(standing.url, subscription.url);
  assert.equal(delivery.event_id, event);
  assert.equal(delivery.subscription_id, publicId("wh", subscription.id));
  assert.equal(delivery.state, "delivered");
  assert.equal(delivery.attempts, 2);
  assert.deepEqual(
    attempt_log.map(({ attempt, status, http_status, reason }) => [
      attempt,
      status,
      http_status,
      reason,
    ]),
    [
      [1, "failed", 503, "http_503"],
      [2, "delivered", 200, null],
    ],
  );
  const { items } = (await ask({ url: `deliveries?event=${event}` })).body as Page<DeliveryView>;
  assert.deepEqual(items, [delivery]);

  for (const unknown of [publicId("dlv", randomUUID()), "dlv_x", publicId("evt", randomUUID())]) {
    assert.equal((await ask({ url: `deliveries/${unknown}` })).status, 404);
  }
});

test("the filter by organization applies to waiting and finished deliveries, also with other filters", async () => {
  const idsOf = async (query: string) =>
    ((await ask({ url: `deliveries?${query}` })).body as Page<DeliveryView>).items.map(
      ({ id }) => id,
    );
  const [ours, theirs] = [await aDelivery(), await aDelivery()];
  for (const state of ["waiting", "delivered"]) {
    for (const { id, subscription } of [ours, theirs]) {
      const organization = publicId("org", subscription.organizationId);
      for (const more of ["", `&state=${state}`, "&type=vc.test.ping"]) {
        const found = await idsOf(`organization=${organization}${more}`);
        assert.deepEqual(found, [id], `${state}, with ${more}`);
      }
    }
    await deliverDue(() => acknowledged);
  }
});

test("a dead letter is redelivered as a new delivery of the same event, and the operator is logged", async (t) => {
  const { ask, subjectsOf } = startOperatorApi(t, deps);
  const { id, event, subscription } = await aDeadLetter();
  const dead = (await ask({ url: `deliveries/${id}` })).body as DeliveryDetail;
  assert.equal(dead.state, "dead_lettered");
  assert.equal(dead.attempt_log.at(-1)?.status, "dead_lettered");

  nudged.length = 0;
  const { status, body } = await ask({ method: "POST", url: `deliveries/${id}/redeliver` });
  assert.equal(status, 202);
  const again = body as DeliveryView;
  assert.notEqual(again.id, id);
  assert.deepEqual(
    [again.event_id, again.state, again.attempts, again.due_at],
    [event, "waiting", 0, clock().toISOString()],
  );
  assert.deepEqual(nudged, [subscription.id]);
  assert.deepEqual(subjectsOf("redeliver"), [id]);

  const bodies: string[] = [];
  await deliverDue((post) => {
    bodies.push(post.body.toString());
    return acknowledged;
  });
  assert.equal(bodies.length, 1);
  assert.equal((JSON.parse(bodies[0] ?? "") as { id: string }).id, event);
});

test("a redelivery can go only to a subscription of the same organization", async () => {
  const organizationId = await anOrganization(deps);
  const { id, subscription } = await aDeadLetter(organizationId);
  const other = await aSubscription(deps, organizationId);
  const foreign = await aSubscription(deps);
  const to = (to: unknown) =>
    ask({ method: "POST", url: `deliveries/${id}/redeliver`, body: { to } });

  assert.equal((await to(publicId("wh", foreign.id))).status, 404);
  assert.equal((await to(publicId("wh", randomUUID()))).status, 404);
  assert.equal((await to("")).status, 404);
  assert.equal((await to(7)).status, 422);

  await deleteSubscription(deps, organizationId, subscription.id);
  const gone = await ask({ method: "POST", url: `deliveries/${id}/redeliver` });
  assert.deepEqual([gone.status, (gone.body as Problem).code], [409, "subscription_inactive"]);
  const sent = await to(publicId("wh", other.id));
  assert.equal(sent.status, 202);
  assert.equal((sent.body as DeliveryView).subscription_id, publicId("wh", other.id));
});

test("waiting and delivered deliveries are not redelivered, and auto-disabled subscriptions get none", async () => {
  const redeliver = async (id: string, request: object = {}) => {
    const url = `deliveries/${id}/redeliver`;
    const { status, body } = await ask({ method: "POST", url, body: request });
    return [status, (body as Problem).code];
  };
  const { id, subscription } = await aDelivery();
  const nowhere = { to: publicId("wh", randomUUID()) };
  assert.deepEqual(await redeliver(id, nowhere), [404, "not_found"]);
  assert.deepEqual(await redeliver(id), [409, "not_redeliverable"]);
  await deliverDue(() => acknowledged);
  assert.deepEqual(await redeliver(id), [409, "not_redeliverable"]);

  await publish(deps, subscription.organizationId, 20);
  await deliverDue(() => refused);
  const url = `deliveries?subscription=wh_${subscription.id}&state=cancelled&limit=1`;
  const [cancelled] = ((await ask({ url })).body as Page<DeliveryView>).items;
  assert.deepEqual(await redeliver(cancelled?.id ?? ""), [409, "subscription_inactive"]);
  assert.deepEqual(await redeliver("dlv_x"), [404, "not_found"]);
});

test("an invalid query is 422 with every fault, without its values", async () => {
  const query =
    "subscription=wh_evil&event=evt_evil&state=evil&reason=timout&since=2026-13-01T00:00:00Z" +
    "&until=1969-12-31T23:59:59Z&limit=evil&cursor=evil&state=evil";
  const { status, body, text } = await ask({ url: `deliveries?${query}` });
  assert.equal(status, 422);
  const wrong = ["/subscription", "/event", "/state", "/reason", "/since", "/until", "/limit"];
  assert.deepEqual(column((body as Problem).errors, "pointer"), [...wrong, "/cursor"]);
  assert.equal(text.includes("evil"), false);
  assert.equal((await ask({ url: "deliveries?organization=%00" })).status, 404);
  for (const [time, answer] of [
    ["9999-12-31T23:59:59.999Z", 200],
    ["9999-12-31T23:59:59-00:01", 422],
    ["2028-02-29T00:00:00Z", 200],
    ["2026-01-31 23:59:59Z", 200], // As written by the console and the command line.
    ["2026-02-29T00:00:00Z", 422],
    ["2026-04-31T00:00:00Z", 422],
    ["2026-01-01T25:00:00Z", 422],
  ] as const) {
    assert.equal((await ask({ url: `deliveries?since=${time}` })).status, answer, time);
  }
});

test("an end before the beginning is 422, not an empty list", async () => {
  const between = async (since: string, until: string) =>
    ask({ url: `deliveries?${new URLSearchParams({ since, until }).toString()}` });

  const { status, body } = await between("2026-01-31T00:00:00Z", "2026-01-31T00:00:00+01:00");
  assert.equal(status, 422);
  assert.deepEqual((body as Problem).errors, [
    { pointer: "/until", detail: "must not be earlier than since" },
  ]);
  const [same, unreadable] = ["2026-01-31T00:00:00Z", "yesterday"];
  assert.equal((await between(same, same)).status, 200);
  const faults = ((await between(same, unreadable)).body as Problem).errors;
  assert.equal(faults.length, 1);
});
