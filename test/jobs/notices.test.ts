import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { publicId } from "../../src/lib/ids.ts";
import type { Queryable } from "../../src/postgres/database.ts";
import { countRecorded } from "../../src/subjects/activity/counted.ts";
import { type Notice, NOTICE_TYPES } from "../../src/subjects/event-types/rules.ts";
import { noteLimited, publishLimitNotices } from "../../src/subjects/events/limit-notices.ts";
import { dueOf, publishNotices } from "../../src/subjects/events/notices.ts";
import { column, columns } from "../support/columns.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { ANYWHERE, attemptAll, claimAll, publish, refused } from "../support/engine.ts";
import { post, WANTED, WEBHOOKS } from "../support/keyed-requests.ts";
import { startPartnerApi, type TestKey } from "../support/partner-api.ts";
import { ROOT } from "../support/root.ts";

const db = await createDatabase();
const PLATFORM = "platform";
const TYPES = [...NOTICE_TYPES];

/** A service whose platform subscribes to notices, and a partner whose receiver refuses everything. */
async function aService(t: TestContext, platformOrganization: string | null = PLATFORM) {
  await db`delete from waiting_deliveries`;
  await ownerOf(db)`
    update organizations set slug = 'former-' || left(id::text, 8) where slug = ${PLATFORM}`;
  const api = startPartnerApi(t, db, {
    platformOrganization,
    checkDestination: () => Promise.resolve(ANYWHERE),
    rules: { retryDelaysMs: [1_000], autoDisableAfter: 3, maxSubscriptions: 100, leaseMs: 30_000 },
  });
  const made = await api.anOrganization();
  await ownerOf(db)`update organizations set slug = ${PLATFORM} where id = ${made.id}`;
  const platform = await api.aKeyOf(made, "webhooks:manage");
  const organization = await api.anOrganization();
  const partner = await api.aKeyOf(organization, "webhooks:manage");
  const { id } = await api.aSubscriptionOf(partner);
  const subscribe = (caller: TestKey, events: string[]) =>
    post(api, caller, "", { ...WANTED, events });
  /** The events of the platform, oldest first. */
  const notices = async () => {
    const rows = await db<{ type: string; data: string; deliveries: number }[]>`
      select type, data, (select count(*) from waiting_deliveries w where w.event_id = e.id)::int as deliveries
        from events e where organization_number = (select number from organizations where id = ${made.id}) order by id`;
    return rows.map(({ type, data, deliveries }) => ({
      type,
      data: JSON.parse(data) as Record<string, unknown>,
      deliveries,
    }));
  };
  const failOnce = async () => attemptAll(api.deps, await claimAll(api.deps), () => refused);
  return {
    ...api,
    platform,
    partner,
    organization,
    subscription: id,
    subscribe,
    notices,
    failOnce,
  };
}

test("only the platform's organization can subscribe to notices, and for others their types are unknown", async (t) => {
  const { subscribe, platform, partner, ...api } = await aService(t);
  assert.equal((await subscribe(platform, [...TYPES, "vc.test.ping"])).statusCode, 201);
  for (const type of TYPES) {
    const unknown = await subscribe(partner, ["vc.test.pong"]);
    const refusedOne = await subscribe(partner, [type]);
    assert.equal(refusedOne.statusCode, 422);
    const faultsOf = (answer: typeof unknown) => answer.json<{ errors: object[] }>().errors;
    assert.deepEqual(faultsOf(refusedOne), faultsOf(unknown), "as any unknown type");
    assert.equal(
      TYPES.some((name) => refusedOne.body.includes(name)),
      false,
    );
  }
  const badKey = await post(api, platform, "", { ...WANTED, events: TYPES }, "two words");
  assert.deepEqual(
    column(badKey.json<{ errors: { pointer: string }[] }>().errors, "pointer"),
    ["/Idempotency-Key"],
    "the platform's types are no faults",
  );
  const wrong = await subscribe(platform, ["vc.test.pong"]);
  assert.equal(wrong.statusCode, 422);
  assert.match(wrong.body, /vc\.delivery\.dead_lettered/);
  assert.equal((await subscribe(platform, [])).statusCode, 422);
});

test("without a platform's organization nobody can subscribe to notices, and none is published", async (t) => {
  const { subscribe, platform, deps, clock, failOnce, organization, notices } = await aService(
    t,
    null,
  );
  assert.equal((await subscribe(platform, [...TYPES])).statusCode, 422);
  await publish(deps, organization.id);
  await failOnce();
  clock.advance(1_000);
  const recorded = await failOnce();
  assert.deepEqual([recorded.deadLettered.length, recorded.notices], [1, []]);
  noteLimited(deps, { organizationId: organization.id, slug: organization.slug });
  assert.equal(deps.limited.waiting.size, 0);
  assert.deepEqual(await notices(), []);
});

test("notices of dead letters and disabled subscriptions are published in the recording transaction", async (t) => {
  const service = await aService(t);
  const { subscribe, platform, deps, clock, failOnce, organization, notices, subscription } =
    service;
  await subscribe(platform, TYPES);
  await publish(deps, organization.id);
  await publish(deps, organization.id);
  await failOnce();
  assert.deepEqual(await notices(), []);
  clock.advance(1_000);
  const recorded = await failOnce();
  const told = await notices();
  assert.deepEqual(columns(told, "type", "deliveries"), [
    ["vc.subscription.disabled", 1],
    ["vc.delivery.dead_lettered", 1],
  ]);
  assert.equal(dueOf(recorded.notices).length, 1);
  const [delivery] = await db<{ id: string }[]>`
    select id from finished where organization_id = ${organization.id} and state = 'dead_lettered'`;
  assert.deepEqual(told.at(-1)?.data, {
    organization: { id: publicId("org", organization.id), slug: organization.slug },
    subscription,
    delivery: publicId("dlv", delivery?.id ?? ""),
    reason: "http_503",
  });
  const page = await readFile(join(ROOT, "docs/publishing.md"), "utf8");
  const [, shown = ""] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  assert.deepEqual(formOf(JSON.parse(shown)), formOf(told.at(-1)?.data), "as documented");
});

/** A value whose ids and slug are cut. */
function formOf(value: unknown): string {
  return JSON.stringify(value).replace(/(_|"slug":")[0-9a-z-]+/g, "$1");
}

test("if a notice cannot be published, its cause is not recorded either, and both succeed later", async (t) => {
  const { subscribe, platform, deps, clock, failOnce, organization, notices } = await aService(t);
  await subscribe(platform, TYPES);
  await publish(deps, organization.id);
  await failOnce();
  clock.advance(1_000);
  const owner = ownerOf(db);
  await owner`alter table events add constraint refused check (type not like 'vc.delivery.%') not valid`;
  const claims = await claimAll(deps);
  await assert.rejects(
    attemptAll(deps, claims, () => refused),
    /refused/,
  );
  const finished = () => db`select from finished where organization_id = ${organization.id}`;
  assert.equal((await finished()).length, 0);
  await owner`alter table events drop constraint refused`;
  await attemptAll(deps, claims, () => refused);
  assert.deepEqual([(await finished()).length, (await notices()).length], [1, 1]);
});

test("no notice is published about a notice", async (t) => {
  const { subscribe, platform, deps, clock, failOnce, organization, notices } = await aService(t);
  await subscribe(platform, TYPES);
  await publish(deps, organization.id);
  for (let i = 0; i < 12; i++) {
    await failOnce();
    clock.advance(1_000);
  }
  assert.deepEqual(column(await notices(), "type"), ["vc.delivery.dead_lettered"]);
  assert.equal((await db`select from waiting_deliveries`).length, 0);
});

test("a limited organization causes one notice a minute, over all processes, after the request", async (t) => {
  const service = await aService(t);
  const { subscribe, platform, deps, clock, notices } = service;
  await subscribe(platform, TYPES);
  const organization = await service.anOrganization({ rateLimitPerMinute: 1 });
  const caller = await service.aKeyOf(organization, "webhooks:manage");
  const other = { ...deps, limited: { waiting: new Map(), toldAt: deps.limited.toldAt } };
  const ask = async () =>
    (await service.inject({ url: WEBHOOKS, headers: { authorization: caller.authorization } }))
      .statusCode;
  assert.deepEqual([await ask(), await ask(), await ask()], [200, 429, 429]);
  assert.deepEqual(await notices(), [], "not in the request");
  other.limited.waiting.set(organization.id, clock());
  const published = deps.activity.published;
  await Promise.all([publishLimitNotices(deps), publishLimitNotices(other)]);
  assert.equal(deps.activity.published, published + 1, "the notice counts as published");
  const told = await notices();
  assert.deepEqual(
    told.map(({ data, ...one }) => ({ ...one, data })),
    [
      {
        type: "vc.organization.limited",
        deliveries: 1,
        data: {
          organization: { id: publicId("org", organization.id), slug: organization.slug },
          subscription: null,
          delivery: null,
          reason: "rate_limited",
        },
      },
    ],
  );

  clock.advance(59_999);
  await ask();
  assert.equal(deps.limited.waiting.size, 0, "a process asks the database once a minute");
  deps.limited.waiting.set(organization.id, clock());
  await publishLimitNotices(deps);
  assert.equal((await notices()).length, 1);
  clock.advance(1);
  deps.limited.waiting.set(organization.id, clock());
  await publishLimitNotices(deps);
  assert.equal((await notices()).length, 2);
  noteLimited(deps, { organizationId: randomUUID(), slug: PLATFORM });
  assert.equal(deps.limited.waiting.size, 0, "the platform causes no notices");
});

test("notices about recorded attempts count as published for the platform", async (t) => {
  const { subscribe, platform, deps, failOnce, organization, clock } = await aService(t);
  await subscribe(platform, TYPES);
  await publish(deps, organization.id);
  const published = deps.activity.published;
  countRecorded(deps.activity, await failOnce());
  clock.advance(1_000);
  countRecorded(deps.activity, await failOnce());
  assert.equal(deps.activity.published, published + 1, "the notice of the dead letter");
});

test("without a platform's organization a notice executes no statement", async () => {
  const tx = (() => assert.fail("a statement")) as unknown as Queryable;
  const notice: Notice = {
    ...{ type: "vc.delivery.dead_lettered", organizationId: randomUUID(), reason: "timeout" },
    ...{ subscriptionId: randomUUID(), deliveryId: randomUUID(), at: new Date() },
  };
  assert.deepEqual(await publishNotices({ clock: () => new Date() }, tx, [notice]), []);
});
