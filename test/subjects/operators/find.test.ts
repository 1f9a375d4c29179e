import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { publicId } from "../../../src/lib/ids.ts";
import { createApiKey } from "../../../src/subjects/keys/work.ts";
import type { Found } from "../../../src/subjects/operators/find.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { createRedelivery } from "../../../src/subjects/redeliveries/work.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import {
  acknowledged,
  aSubscription,
  createEngine,
  publish,
  refused,
} from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const { deps, clock, deliverDue } = await createEngine(await createDatabase());
const { ask } = startOperatorApi({ after }, deps);
const { id: organizationId } = await createOrganization(deps, { slug: "acme" });
const organization = publicId("org", organizationId);
const subscription = await aSubscription(deps, organizationId, "https://hooks.acme.example/in");
const [event = ""] = await publish(deps, organizationId);

async function find(q: string): Promise<Found[]> {
  const { status, body } = await ask({ url: `find?q=${encodeURIComponent(q)}` });
  assert.equal(status, 200);
  return (body as { items: Found[] }).items;
}

test("any id is found by itself", async () => {
  await deliverDue(() => refused);
  clock.advance(86_400_000);
  await deliverDue(() => acknowledged);
  const [delivery] = await deps.db<{ id: string; success_id: string }[]>`
    select id, success_id from finished`;
  const [failure] = await deps.db<{ id: string }[]>`select id from attempts`;
  const { keyId, token } = await createApiKey(deps, { organization, label: "production" });
  const job = await createRedelivery(deps, { filter: { organization } }, "alice");
  const dlv = publicId("dlv", delivery?.id ?? "");
  const [success, failed] = [delivery?.success_id, failure?.id].map((id) =>
    publicId("att", id ?? ""),
  );

  const cases: [q: string, found: Found][] = [
    [organization, { kind: "organization", id: organization, label: "acme" }],
    [
      publicId("wh", subscription.id),
      { kind: "subscription", id: publicId("wh", subscription.id), label: subscription.url },
    ],
    [publicId("evt", event), { kind: "event", id: publicId("evt", event), label: "vc.test.ping" }],
    [dlv, { kind: "delivery", id: dlv, label: "delivered" }],
    [success ?? "", { kind: "attempt", id: dlv, label: `delivered ${success ?? ""}` }],
    [failed ?? "", { kind: "attempt", id: dlv, label: `http_503 ${failed ?? ""}` }],
    [`vck_${keyId}`, { kind: "key", id: `vck_${keyId}`, label: "acme: production" }],
    [token, { kind: "key", id: `vck_${keyId}`, label: "acme: production" }],
    [job.id, { kind: "redelivery", id: job.id, label: "queued" }],
    [` ${dlv}\n`, { kind: "delivery", id: dlv, label: "delivered" }],
  ];
  for (const [q, found] of cases) assert.deepEqual(await find(q), [found]);
});

test("slugs, event types and hosts are found by prefix, exact matches first", async () => {
  await createOrganization(deps, { slug: "acme-europe" });
  const named = (items: Found[]) => items.map(({ kind, id }) => [kind, id]);
  assert.deepEqual(column(await find("ACME"), "label"), ["acme", "acme-europe"]);
  assert.deepEqual(named(await find("vc.test")), [["event_type", "vc.test.ping"]]);
  assert.deepEqual(named(await find("hooks.ac")), [["host", "hooks.acme.example"]]);
  assert.deepEqual(named(await find("hooks.acme.example")), [["host", "hooks.acme.example"]]);
});

test("an id is found with what stands around it in a header, a log, a URL or JSON", async () => {
  const id = publicId("evt", event);
  for (const pasted of [
    `webhook-id: ${id}`,
    `"event_id": "${id}",`,
    `evt ${id}: delivered`,
    `http://127.0.0.1:8081/console/events/${id}?from=list`,
  ]) {
    assert.deepEqual(column(await find(pasted), "id"), [id], pasted);
  }
  const { keyId, token } = await createApiKey(deps, { organization });
  const keys = await find(`Authorization: Bearer ${token}`);
  assert.deepEqual(column(keys, "id"), [`vck_${keyId}`]);
});

for (const pasted of [
  "https://hooks.acme.example/in",
  "HTTPS://Hooks.ACME.example:8443/in?a=b#c",
  "//hooks.acme.example/in",
  "hooks.acme.example:443",
  "hooks.acme.example.",
  "hooks.acme.example/in",
  "https://user@hooks.acme.example/in",
]) {
  test(`the host is found for ${pasted}, in the search and as a filter`, async () => {
    assert.deepEqual(column(await find(pasted), "id"), ["hooks.acme.example"]);
    const query = new URLSearchParams({
      host: ` ${pasted}\n`,
      event: `webhook-id: ${publicId("evt", event)}`,
    });
    const { body } = await ask({ url: `deliveries?${query.toString()}` });
    assert.equal((body as { items: unknown[] }).items.length, 1);
  });
}

test("a host with other letters than ASCII is found in both spellings", async () => {
  await aSubscription(deps, organizationId, "https://xn--bcher-kva.example/in");
  for (const pasted of ["https://bücher.example/in", "xn--bcher-kva.example", "BÜCHER.example"]) {
    assert.deepEqual(column(await find(pasted), "id"), ["xn--bcher-kva.example"]);
  }
});

test("white space around a filter is ignored", async () => {
  const query = new URLSearchParams({
    organization: " acme\t",
    subscription: ` wh_${subscription.id} `,
  });
  const { body } = await ask({ url: `deliveries?${query.toString()}` });
  assert.equal((body as { items: unknown[] }).items.length, 1);
});

test("unknown and unusual texts find nothing", async () => {
  for (const q of [
    ...["evt", "dlv", "att", "wh", "org", "rdl"].map((prefix) => `${prefix}_${randomUUID()}`),
    ...["vck_x", "%", "_", "nobody", "\u0000", "a\u0000b", "'", "acme\\", "\u{10ffff}"],
  ]) {
    assert.deepEqual(await find(q), [], JSON.stringify(q));
  }
});

test("at most twenty are found, and an empty or a very long text is refused", async () => {
  for (let i = 0; i < 25; i++) await createOrganization(deps, { slug: `many-${i}` });
  assert.equal((await find("many")).length, 20);
  for (const q of ["", "%20", "x".repeat(301)]) {
    assert.equal((await ask({ url: `find?q=${q}` })).status, 422);
  }
  assert.equal((await ask({ url: "find" })).status, 422);
});

test("many subscriptions of a host do not hide other results", async () => {
  const { id } = await aSubscription(deps, organizationId, "https://aa.crowd.example/");
  await aSubscription(deps, organizationId, "https://ab.crowd.example/");
  await deps.db`
    insert into subscriptions (id, organization_id, url, host, events, created_at, deleted_at)
    select gen_random_uuid(), organization_id, url, host, events, created_at, created_at
      from subscriptions, generate_series(1, 1001) where id = ${id}`;
  const hosts = (await find("a")).flatMap(({ kind, id }) => (kind === "host" ? [id] : []));
  assert.deepEqual(hosts, ["aa.crowd.example", "ab.crowd.example"]);
});
