import assert from "node:assert/strict";
import { test } from "node:test";
import { createPartitions } from "../../../src/jobs/maintenance-sql.ts";
import { runRedelivery } from "../../../src/jobs/redelivery.ts";
import { listSealedAnswers } from "../../../src/subjects/events/idempotency-sql.ts";
import { rowNameOf } from "../../../src/subjects/events/idempotency.ts";
import { publish, type PublishedView } from "../../../src/subjects/events/publish.ts";
import { open } from "../../../src/subjects/secrets/rules.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { attemptAll, claimAll, refused } from "../../support/engine.ts";
import { post } from "../../support/keyed-requests.ts";
import { startOperatorApi } from "../../support/operator-api.ts";
import { startPartnerApi } from "../../support/partner-api.ts";
import { aPlatformsTypes } from "../../support/platform-types.ts";

const db = await createDatabase();
const owner = ownerOf(db);

/** Stands for a person's data, as a value and as a name. */
const CANARY = "canary-of-a-person";
const DATA = { amount: 1, [CANARY]: [{ mail: `${CANARY}@example.com` }] };
const AS_STORED = ["utf8", "hex", "base64"].map((encoding) =>
  Buffer.from(CANARY)
    .toString(encoding as BufferEncoding)
    .slice(0, 20),
);

/** Every table and column, of any type, that holds the data. The planner's statistics hold samples of columns. */
async function placesOfCanary(): Promise<string[]> {
  const columns = await owner<{ relation: string; column: string }[]>`
    select c.relname as relation, a.attname as column
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'm')
     order by 1, 2`;
  assert.ok(columns.length > 100);
  const places: string[] = [];
  for (const { relation, column } of columns) {
    const found = await owner`
      select from ${owner(relation)} t
       where to_jsonb(t.${owner(column)})::text like any (${AS_STORED.map((text) => `%${text}%`)})`;
    if (found.length > 0) places.push(`${relation}.${column}`);
  }
  const samples = await owner<{ place: string }[]>`
    select tablename || '.' || attname as place from pg_stats s
     where to_jsonb(s)::text like ${`%${CANARY}%`} order by 1`;
  return [...places, ...samples.map(({ place }) => `statistics of ${place}`)];
}

test("an erased payload is in no column of any table, in no kept answer and in no statistics", async (t) => {
  const rules = { retryDelaysMs: [], autoDisableAfter: 20, maxSubscriptions: 9, leaseMs: 30_000 };
  const api = startPartnerApi(t, db, { rules, eventTypes: aPlatformsTypes() });
  const { deps, clock } = api;
  clock.advance(Date.now() - clock().getTime());
  await createPartitions(db, clock());
  const { ask } = startOperatorApi(t, deps);
  const caller = await api.aKeyWith("webhooks:manage");
  const wanted = { url: "https://hooks.example.com/", events: ["order.created", "vc.test.ping"] };
  const made = await post(api, caller, "", wanted, "creation");
  const { id: subscription, secret } = made.json<{ id: string; secret: string }>();
  await post(api, caller, `/${subscription}/test`, { secret }, "test-call");

  const { organizationId } = caller;
  const event = { organizationId, type: "order.created", data: JSON.stringify(DATA) };
  const overHttp = { organization: `org_${organizationId}`, type: "order.created", data: DATA };
  const ids: string[] = [];
  for (const dedupe_key of ["a", "b"]) {
    const answer = await ask({ method: "POST", url: "events", body: { ...overHttp, dedupe_key } });
    ids.push((answer.body as PublishedView).event_id);
  }
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const [traced] = await db.begin((tx) => publish(deps, tx, [{ ...event, traceparent }]));
  ids.push(`evt_${traced?.eventId ?? ""}`);
  await attemptAll(deps, await claimAll(deps), () => refused);
  clock.advance(1_000);
  const filter = { organization: overHttp.organization, state: "dead_lettered" };
  const job = await ask({ method: "POST", url: "redeliveries", body: { filter } });
  assert.equal(job.status, 202);
  await runRedelivery(deps);
  await owner`analyze`;

  const before = await placesOfCanary();
  assert.deepEqual(
    before.filter((place) => !/^events_\d{8}_\d{6}\.data$/.test(place)),
    ["events.data"],
  );
  for (const id of ids) {
    assert.equal((await ask({ method: "DELETE", url: `events/${id}/payload` })).status, 204);
  }
  await runRedelivery(deps);
  assert.deepEqual(await placesOfCanary(), []);

  const answers = await listSealedAnswers(db, { after: null, limit: 10 });
  assert.equal(answers.length, 2);
  for (const answer of answers) {
    const opened = open(deps.ring, rowNameOf(answer), answer.sealedAnswer);
    assert.ok(opened !== null && !opened.includes(CANARY));
  }
});
