import assert from "node:assert/strict";
import { test } from "node:test";
import { publicId } from "../../../src/lib/ids.ts";
import type { Queryable } from "../../../src/postgres/database.ts";
import { admit } from "../../../src/subjects/keys/admission.ts";
import { createApiKey } from "../../../src/subjects/keys/work.ts";
import { closeOrganization, createOrganization } from "../../../src/subjects/organizations/work.ts";
import { createSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { columns } from "../../support/columns.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { ANYWHERE, aSubscription, createEngine, publish, refused } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const db = await createDatabase();
let organizations = 0;

async function anEngine() {
  const engine = await createEngine(db);
  const open = { ...engine.deps, checkDestination: () => Promise.resolve(ANYWHERE) };
  return { ...engine, deps: open };
}

/** An organization with keys, a working and a disabled subscription, a queue and a history. */
async function anOrganizationInUse({ deps, deliverDue }: Awaited<ReturnType<typeof anEngine>>) {
  const { id, slug } = await createOrganization(deps, { slug: `closing-${++organizations}` });
  const token = (await createApiKey(deps, { organization: slug })).token;
  await createApiKey(deps, { organization: slug });
  const { id: subscription } = await aSubscription(deps, id);
  const { id: disabled } = await aSubscription(deps, id);
  await db`update subscriptions set auto_disabled_at = ${deps.clock()} where id = ${disabled}`;
  await publish(deps, id);
  await deliverDue(() => refused);
  await publish(deps, id);
  await db`
    insert into kept_answers (organization_id, route, key, request_hash, subscription_id, at, sealed_answer)
    values (${id}, 'createSubscription', 'k', ${Buffer.alloc(32)}, ${subscription}, ${deps.clock()}, 'sealed')`;
  return { id, slug, token, subscription };
}

/** Every row of every table that belongs to an organization. */
async function rowsOf(organizationId: string): Promise<Record<string, unknown[]>> {
  const tables = await ownerOf(db)<{ name: string }[]>`
    select c.relname as name
      from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;
  const found: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const rows = await ownerOf(
      db,
    )`select to_jsonb(t) as row from ${db(name)} t order by to_jsonb(t)::text`;
    const known = rows.map(({ row }) => row as unknown);
    found[name] = known.filter((row) => JSON.stringify(row).includes(organizationId));
  }
  return found;
}

test("closing revokes keys, deletes subscriptions with their secrets, cancels queues, and keeps the history", async (t) => {
  const engine = await anEngine();
  const { ask, logged } = startOperatorApi(t, engine.deps);
  const other = await anOrganizationInUse(engine);
  const { id, slug, token } = await anOrganizationInUse(engine);
  const [before, others] = [await rowsOf(id), await rowsOf(other.id)];
  assert.ok((before["waiting_deliveries"] ?? []).length > 0);

  const close = () => ask({ method: "DELETE", url: `organizations/${slug}` });
  assert.deepEqual([(await close()).status, (await close()).status], [204, 204]);
  const after = await rowsOf(id);
  assert.deepEqual(await rowsOf(other.id), others, "nothing of another organization changes");

  const changed = [
    "organizations",
    "api_keys",
    "subscriptions",
    "kept_answers",
    "operator_changes",
  ];
  for (const [table, rows] of Object.entries(before)) {
    if (changed.includes(table) || table.endsWith("deliveries")) continue;
    assert.deepEqual(after[table], rows, table);
  }
  const at = (table: string, member: string) =>
    (after[table] as Record<string, unknown>[]).map((row) => row[member]);
  assert.ok(at("organizations", "closed_at").every((time) => time !== null));
  assert.equal(at("api_keys", "revoked_at").filter((time) => time !== null).length, 2);
  assert.equal(at("subscriptions", "deleted_at").filter((time) => time !== null).length, 2);
  assert.deepEqual(at("subscriptions", "sealed_secret"), [null, null]);
  assert.deepEqual(at("kept_answers", "sealed_answer"), [null]);
  assert.deepEqual(after["waiting_deliveries"], []);
  assert.equal(
    (after["finished_deliveries"] ?? []).length,
    (before["waiting_deliveries"] ?? []).length + (before["finished_deliveries"] ?? []).length,
  );
  await assert.rejects(admit(engine.deps, `Bearer ${token}`), { code: "unauthenticated" });

  const changes = logged.filter((line) => line["action"] === "close_organization");
  assert.deepEqual(
    columns(changes, "operator", "subject"),
    Array(2).fill(["alice", publicId("org", id)]),
  );
  const history = await ask({ url: `deliveries?organization=${slug}` });
  assert.equal((history.body as { items: unknown[] }).items.length, 2);
});

test("a closed organization is unknown, and its slug cannot be reused", async (t) => {
  const engine = await anEngine();
  const { ask } = startOperatorApi(t, engine.deps);
  const { id, slug } = await anOrganizationInUse(engine);
  await closeOrganization(engine.deps, publicId("org", id));
  const codes: unknown[] = [];
  for (const name of [slug, publicId("org", id)]) {
    for (const request of [
      { method: "POST", url: "keys", body: { organization: name } },
      { method: "PATCH", url: `organizations/${name}`, body: { rate_limit_per_minute: 1 } },
      {
        method: "POST",
        url: "events",
        body: { organization: name, type: "vc.test.ping", data: {} },
      },
    ] as const) {
      const { status, text } = await ask(request);
      codes.push(status);
      if (status === 422) assert.match(text, /"pointer":"\/organization"/);
    }
    await assert.rejects(
      ownerOf(db)`select partner_api_publish(${name}, 'order.created', '{}'::jsonb)`,
      /organization must be the id or the slug of an organization/,
    );
  }
  assert.deepEqual(codes, [404, 404, 422, 404, 404, 422]);
  const taken = await ask({ method: "POST", url: "organizations", body: { slug } });
  assert.deepEqual([taken.status, (taken.body as { code: string }).code], [409, "slug_taken"]);
  const list = await ask({ url: "organizations?limit=200" });
  assert.equal(list.text.includes(id), false);
  for (const name of ["unknown-slug", "org_0", publicId("org", engine.deps.ring[0].id)]) {
    assert.equal((await ask({ method: "DELETE", url: `organizations/${name}` })).status, 404);
  }
});

test("a long queue is cancelled in parts", async () => {
  const engine = await anEngine();
  const { id, slug } = await anOrganizationInUse(engine);
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select gen_random_uuid(), event_id, subscription_id, organization_id, due_at
      from waiting_deliveries, generate_series(1, 6000) where organization_id = ${id}`;
  await closeOrganization(engine.deps, slug);
  await engine.deps.cancelling.restCancelled();
  assert.equal((await db`select from waiting_deliveries where organization_id = ${id}`).length, 0);
});

for (const [what, begin] of Object.entries({
  key: (deps, { slug }) => createApiKey(deps, { organization: slug }),
  subscription: (deps, { id }) =>
    createSubscription(deps, id, { url: "https://receiver.example/", events: ["vc.test.ping"] }),
} satisfies Record<
  string,
  (
    deps: Awaited<ReturnType<typeof anEngine>>["deps"],
    organization: { id: string; slug: string },
  ) => Promise<unknown>
>)) {
  test(`a ${what} is not created while its organization is being closed`, async () => {
    const engine = await anEngine();
    const organization = await anOrganizationInUse(engine);
    let made: Promise<unknown> | undefined;
    const closeIn = async (tx: Queryable) => {
      await closeOrganization(
        {
          ...engine.deps,
          db: Object.assign(tx, { begin: (work: (tx: Queryable) => unknown) => work(tx) }) as never,
        },
        organization.slug,
      );
      made = begin(engine.deps, organization);
      made.catch(() => undefined);
      await untilBlocked(db);
    };
    await db.begin(closeIn);
    await assert.rejects(made ?? Promise.resolve(), /no such organization|unknown or revoked/);
    const rows = await rowsOf(organization.id);
    const table = what === "key" ? "api_keys" : "subscriptions";
    assert.equal((rows[table] ?? []).length, 2);
  });
}
