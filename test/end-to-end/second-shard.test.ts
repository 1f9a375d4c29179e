import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { keyIdOf } from "../../src/domain/sealed-secret.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createPartitions } from "../../src/postgres/partitions.ts";
import { createDatabase, environmentOf, openPool, ownerOf } from "../support/database.ts";
import { aFolder, typeFile } from "../support/event-types.ts";
import { runProgram } from "../support/program.ts";
import { startService } from "../support/service.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { aRig } from "../support/rig.ts";
import { aPartnerIn, aShardedRig, operatorOf } from "../support/shards.ts";

const TYPE = "order.created";
const NOT_HERE = /organization must be the id or the slug of an organization/;
const anEvent = (organization: string) => ({
  ...{ organization, type: TYPE, data: {}, dedupe_key: `of-${organization}` },
});

/** Two shards, with a partner in each that is subscribed to orders. */
async function aService(t: TestContext, further: Record<string, string> = {}) {
  const { rig, gateOf } = await aShardedRig(t, ["00", "01"]);
  const types = await aFolder(t, { [`${TYPE}.json`]: typeFile({ type: "object" }) });
  const env: Record<string, string> = { ...rig, EVENT_TYPES: types, ...further };
  const program = await startService(t, env);
  const receiver = await startLocalReceiver(t);
  for (const [shard, slug] of [
    ["00", "one"],
    ["01", "two"],
  ] as const) {
    const { ask } = await aPartnerIn(program, shard, slug);
    const body = { url: receiver.url(`/${slug}`), events: [TYPE] };
    assert.equal((await ask("/webhooks", { method: "POST", body })).status, 201);
  }
  const [, ...owners] = (env["MIGRATION_DATABASE_URL"] ?? "").split(/ ?\d\d=/);
  const ownersOf = owners.map((url) => {
    const owner = openPool(t, url);
    return owner;
  });
  const [one, two] = ownersOf as [Database, Database];
  return { env, program, receiver, gateOf, one, two, ask: operatorOf(program) };
}

function countOrders(db: Database): Promise<number> {
  return db`select from events where type = ${TYPE}`.then((rows) => rows.length);
}

test("a batch over two shards of which one fails is refused, and its repetition publishes each event once", async (t) => {
  const { ask, gateOf, one, two } = await aService(t);
  const events = [anEvent("one"), anEvent("two")];
  const publish = () => ask("/events", { method: "POST", body: { events } });

  await gateOf("01").close();
  assert.equal((await publish()).status, 503);
  assert.equal(await countOrders(one), 0, "the batch is checked before anything is written");
  await gateOf("01").open();

  await two.unsafe(`
    create function fail() returns trigger language plpgsql as
      $$ begin raise exception 'no' using errcode = 'cannot_connect_now'; end $$;
    create trigger fail before insert on events for each row execute function fail()`);
  let refused = await publish();
  while (!String(refused.body["detail"]).includes("some events are not published")) {
    assert.equal(refused.status, 503, JSON.stringify(refused.body));
    refused = await publish();
  }
  assert.equal(refused.status, 503);
  assert.equal(await countOrders(one), 1);
  await two.unsafe("drop function fail cascade");

  let repeated = await publish();
  while (repeated.status === 503) repeated = await publish();
  assert.equal(repeated.status, 202, JSON.stringify(repeated.body));
  assert.deepEqual([await countOrders(one), await countOrders(two)], [1, 1]);
});

test("a redelivery job runs in the second shard", async (t) => {
  const { ask, receiver } = await aService(t, { RETRY_DELAYS: "1ms" });
  receiver.answer(({ response }) => response.writeHead(500).end());
  const published = await ask("/events", { method: "POST", body: anEvent("two") });
  assert.equal(published.status, 202, JSON.stringify(published.body));
  const dead = "/deliveries?organization=two&state=dead_lettered";
  const items = async () => (await ask(dead)).body["items"] as unknown[];
  while ((await items()).length === 0);

  const arrived: unknown[] = [];
  receiver.answer(({ response }) => {
    arrived.push(response);
    response.writeHead(204).end();
  });
  const made = await ask("/redeliveries", {
    ...{ method: "POST", body: { filter: { organization: "two" } } },
  });
  assert.equal(made.status, 202, JSON.stringify(made.body));
  const job = () => ask(`/redeliveries/${String(made.body["id"])}`);
  while ((await job()).body["state"] !== "finished");
  while (arrived.length === 0) await job();
});

test("reseal and retention reach the second shard", async (t) => {
  const { env, program, two } = await aService(t);
  await program.stop();
  const ring = `new:${Buffer.alloc(32, 8).toString("base64")},${env["SEALING_KEYS"]}`;
  const resealed = await runProgram(["reseal", "--json"], { ...env, SEALING_KEYS: ring });
  assert.equal((JSON.parse(resealed.stdout) as { resealed: number }).resealed, 2);
  const [row] = await two<[{ sealed_secret: Buffer }]>`select sealed_secret from subscriptions`;
  assert.equal(keyIdOf(row.sealed_secret), "new");

  const old = new Date(Date.now() - 400 * 86_400_000);
  await createPartitions(two, old);
  const kept = () =>
    two`select from history_partitions where until < ${old.toISOString()}::timestamptz + interval '30 days'`;
  assert.notEqual((await kept()).length, 0);
  await startService(t, { ...env, SEALING_KEYS: ring });
  assert.equal((await kept()).length, 0);
});

test("the SQL function of a schema publishes to the organizations of its shard", async (t) => {
  const db = await createDatabase({ max: 1 });
  const owner = ownerOf(db);
  await owner`create schema s1`;
  const { MIGRATION_DATABASE_URL: url = "" } = environmentOf(db);
  const types = await aFolder(t, { [`${TYPE}.json`]: typeFile({ type: "object" }) });
  const program = await startService(t, {
    ...(await aRig(t)),
    ...{ DATABASE_URL: "", MIGRATION_DATABASE_URL: "", EVENT_TYPES: types },
    SHARDS: `00=${url} 01=${url}?search_path=s1`,
    SEALING_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
  });
  const receiver = await startLocalReceiver(t);
  await aPartnerIn(program, "00", "one");
  const { ask } = await aPartnerIn(program, "01", "two");
  const body = { url: receiver.url(), events: [TYPE] };
  assert.equal((await ask("/webhooks", { method: "POST", body })).status, 201);

  const call = (schema: string, slug: string) =>
    owner.unsafe(`select ${schema}.partner_api_publish('${slug}', '${TYPE}', '{}')`).execute();
  await call("s1", "two");
  await receiver.next();
  assert.equal((await owner`select from s1.events where type = ${TYPE}`).length, 1);
  await assert.rejects(call("s1", "one"), NOT_HERE);
  await assert.rejects(call("public", "two"), NOT_HERE);
});
