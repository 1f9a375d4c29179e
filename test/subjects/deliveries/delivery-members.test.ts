import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { publicId } from "../../../src/lib/ids.ts";
import type { Page } from "../../../src/lib/page.ts";
import type { DeliveryView } from "../../../src/subjects/deliveries/work.ts";
import { sendTestEvent } from "../../../src/subjects/events/work.ts";
import { deleteSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { createDatabase } from "../../support/database.ts";
import { anOrganization, aSubscription, createEngine, publish } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";
import { aPlatformsTypes } from "../../support/platform-types.ts";

const { deps, clock } = await createEngine(await createDatabase(), {
  eventTypes: aPlatformsTypes(),
});
const { ask } = startOperatorApi({ after }, deps);

const itemsOf = (body: unknown) => (body as Page<DeliveryView>).items;

test("a delivery names its organization, its receiver's host and the request that published it", async () => {
  const subscription = await aSubscription(deps, undefined, "https://HOOKS.example.com.:8443/a?b");
  const { id, secret, organizationId } = subscription;
  const requestId = "request-of-the-test-call";
  await sendTestEvent(deps, organizationId, { id, secret, requestId });
  await publish(deps, organizationId);

  const { body } = await ask({ url: `deliveries?subscription=${publicId("wh", id)}` });
  const [plain, called] = itemsOf(body);
  assert.deepEqual(plain?.organization, {
    id: publicId("org", organizationId),
    slug: plain?.organization.slug,
  });
  assert.match(plain.organization.slug, /^org-\d+$/);
  assert.equal(plain.host, "hooks.example.com");
  assert.equal(plain.request_id, null);
  assert.equal(called?.request_id, requestId);
});

test("an event published over HTTP keeps the id of its request", async () => {
  const organization = publicId("org", await anOrganization(deps));
  const event = { organization, type: "order.created", data: { amount: 1 } };
  const { status, headers } = await ask({ method: "POST", url: "events", body: event });
  assert.equal(status, 202);
  const [row] = await deps.db<{ request_id: string }[]>`
    select request_id from events where type = 'order.created'`;
  assert.equal(row?.request_id, headers["x-request-id"]);
});

test("the id of a request is shown as the client wrote it, UUID or not", async () => {
  const organizationId = await anOrganization(deps);
  const named = ["left", "3C3F6A2E-5B0E-4A53-9D0D-2F6A3C1B7E55", randomUUID()];
  const organization = publicId("org", organizationId);
  const event = { organization, type: "order.created", data: { amount: 1 } };
  for (const name of named) {
    const headers = { "x-request-id": name };
    const { body } = await ask({ method: "POST", url: "events", headers, body: event });
    const shown = await ask({ url: `events/${(body as { event_id: string }).event_id}` });
    assert.equal((shown.body as { request_id: string }).request_id, name);
  }
});

test("deliveries are found by the receiver's host, even after the subscription is deleted", async () => {
  const [one, other] = [
    await aSubscription(deps, undefined, "https://one.example.net/hooks"),
    await aSubscription(deps, undefined, "https://other.example.net/hooks"),
  ];
  for (const { organizationId } of [one, other]) await publish(deps, organizationId);
  await deleteSubscription(deps, null, one.id);
  const found = async (query: string) =>
    itemsOf((await ask({ url: `deliveries?${query}` })).body).map((item) => item.host);

  assert.deepEqual(await found("host=one.example.net"), ["one.example.net"]);
  assert.deepEqual(await found("host=ONE.example.net."), ["one.example.net"]);
  assert.deepEqual(await found("host=example.net"), []);
  const organization = publicId("org", other.organizationId);
  assert.deepEqual(await found(`host=one.example.net&organization=${organization}`), []);
  assert.deepEqual(await found(`host=other.example.net&organization=${organization}`), [
    "other.example.net",
  ]);
  assert.equal((await ask({ url: "deliveries?host=a%20b" })).status, 422);
});

test("a redelivery is shown on both deliveries, the latest one on the first", async () => {
  const subscription = await aSubscription(deps);
  const other = await aSubscription(deps, subscription.organizationId);
  const [event = ""] = await publish(deps, subscription.organizationId);
  await deleteSubscription(deps, null, subscription.id);
  const { body } = await ask({ url: `deliveries?event=${publicId("evt", event)}&state=cancelled` });
  const id = itemsOf(body)[0]?.id ?? "";

  const made: DeliveryView[] = [];
  for (let i = 0; i < 2; i++) {
    clock.advance(1);
    const request = { to: publicId("wh", other.id) };
    const answer = await ask({ method: "POST", url: `deliveries/${id}/redeliver`, body: request });
    made.push(answer.body as DeliveryView);
  }
  const [first, second] = made;
  assert.equal(first?.redelivery_of, id);
  const shown = async (of: string) => (await ask({ url: `deliveries/${of}` })).body as DeliveryView;
  assert.equal((await shown(id)).redelivered_as, second?.id);
  assert.equal((await shown(first.id)).redelivery_of, id);
  assert.equal((await shown(first.id)).redelivered_as, null);
});
