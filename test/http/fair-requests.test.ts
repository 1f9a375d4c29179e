import assert from "node:assert/strict";
import { test } from "node:test";
import { randomId } from "../../src/lib/ids.ts";
import { hashSecret } from "../../src/subjects/keys/rules.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { subscribe } from "../support/keyed-requests.ts";
import { startPartnerApi, type TestKey } from "../support/partner-api.ts";
import { untilBlocked } from "../support/until-blocked.ts";

const db = await createDatabase();

test("creations of one organization that wait for each other leave connections to the others", async (t) => {
  const api = startPartnerApi(t, db);
  const busy = await api.aKeyWith("webhooks:manage");
  const other = await api.aKeyWith("webhooks:manage");

  const order: string[] = [];
  const noted = async (name: string, key: TestKey) => {
    const { statusCode } = await subscribe(api, key, null);
    order.push(`${name} ${statusCode}`);
  };
  let creations: Promise<void>[] = [];
  await ownerOf(db).begin(async (tx) => {
    await tx`select from organizations where id = ${busy.organizationId} for update`;
    creations = Array.from({ length: 30 }, () => noted("busy", busy));
    await untilBlocked(ownerOf(db));
    await noted("other", other);
  });
  await Promise.all(creations);
  assert.deepEqual(order, ["other 201", ...Array.from({ length: 30 }, () => "busy 201")]);
});

const secretHashOf = (token: string) => hashSecret(token.slice(token.indexOf(".") + 1));

/** Makes the calls one after the other, in one tick, and returns their names in the order in which they end. */
async function endsOf(calls: { name: string; call: () => Promise<unknown> }[]): Promise<string[]> {
  const order: string[] = [];
  await Promise.all(
    calls.map(async ({ name, call }) => {
      await call();
      order.push(name);
    }),
  );
  return order;
}

const times = <Item>(count: number, make: (n: number) => Item) =>
  Array.from({ length: count }, (_, n) => make(n));

test("a call of one organization overtakes hundreds of earlier ones of another", async (t) => {
  const { deps, ...api } = startPartnerApi(t, db);
  const busy = await api.aKeyWith();
  const other = await api.aKeyWith();
  const { batched } = deps;
  const ways: Record<string, (key: TestKey) => Promise<unknown>> = {
    admit: ({ keyId, token }) => batched.admit({ keyId, secretHash: secretHashOf(token) }),
    publish: ({ organizationId }) =>
      batched.publish({ organizationId, type: "vc.test.ping", data: "{}" }),
    findSubscription: ({ organizationId: soughtBy }) =>
      batched.findSubscription({ id: randomId(), soughtBy }),
    findOrganization: ({ organizationId: id }) => batched.findOrganization({ id, slug: null }),
  };
  for (const [name, way] of Object.entries(ways)) {
    await Promise.all([way(busy), way(other)]);
    const order = await endsOf([
      ...times(400, () => ({ name: "busy", call: () => way(busy) })),
      { name: "other", call: () => way(other) },
    ]);
    assert.ok(order.indexOf("other") < 300, `${name}: it went with the second batch of three`);
  }
});

test("a batch of events overtakes earlier batches of another organization", async (t) => {
  const { deps, ...api } = startPartnerApi(t, db);
  const [busy, other] = [await api.anOrganization(), await api.anOrganization()];
  const publish = (organizationId: string, count: number) => () =>
    deps.batched.publishAll(
      times(count, () => ({
        organizationId,
        type: "vc.test.ping",
        data: "{}",
        dedupeKey: randomId(),
      })),
    );
  const order = await endsOf([
    ...times(20, () => ({ name: "busy", call: publish(busy.id, 2) })),
    { name: "other", call: publish(other.id, 2) },
  ]);
  assert.ok(order.indexOf("other") < 10, `it came after ${order.indexOf("other")} of 20 batches`);
});

test("an organization with many keys gets no more turns than one with a single key", async (t) => {
  const { deps, ...api } = startPartnerApi(t, db);
  const organization = await api.anOrganization();
  const keys = await Promise.all(times(10, () => api.aKeyOf(organization)));
  const other = await api.aKeyWith();
  const admit = ({ keyId, token }: TestKey) =>
    deps.batched.admit({ keyId, secretHash: secretHashOf(token) });
  await Promise.all([...keys, other].map(admit));
  const order = await endsOf([
    ...times(40, () => keys.map((key) => ({ name: "busy", call: () => admit(key) }))).flat(),
    ...times(90, () => ({ name: "other", call: () => admit(other) })),
  ]);
  assert.ok(order.lastIndexOf("other") < 300, "its requests went with the second batch of three");
});

test("guessed keys get no more turns than one organization", async (t) => {
  const { deps, ...api } = startPartnerApi(t, db);
  const known = await api.aKeyWith();
  const admit = (keyId: string, token: string) =>
    deps.batched.admit({ keyId, secretHash: secretHashOf(token) });
  await admit(known.keyId, known.token);
  const order = await endsOf([
    ...times(400, () => ({ name: "guess", call: () => admit(randomId(), `vck_1.${randomId()}`) })),
    { name: "known", call: () => admit(known.keyId, known.token) },
  ]);
  assert.ok(order.indexOf("known") < 300, "it went with the second batch of three");
});
