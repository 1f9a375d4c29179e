import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "../../src/observe/metrics.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { Attempt } from "../../src/subjects/deliveries/rules.ts";
import { aGate } from "../support/database-gate.ts";
import { createDatabase } from "../support/database.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  attemptAll,
  claimAll,
  createEngine,
  publish,
} from "../support/engine.ts";

const db = await createDatabase();
const { deps, clock } = await createEngine(db);

function exposed(behind = db, databaseMs?: number) {
  const { activity } = deps;
  const watched = { db: behind, clock: { now: clock, skewMs: -2_500 }, activity };
  const metrics = createMetrics(watched, null, databaseMs);
  metrics.watchAttempts({ busy: 3 });
  const read = async () => (await metrics.expose()).body.split("\n");
  return { metrics, read };
}

test("the lag is that of the oldest due delivery, and is absent while it is unknown", async (t) => {
  const gate = await aGate(t, db);
  const lag = async () =>
    (await exposed(gate.db).read()).filter((line) =>
      line.startsWith("partner_api_delivery_lag_seconds"),
    );
  assert.deepEqual(await lag(), ["partner_api_delivery_lag_seconds 0"]);

  const organization = await anOrganization(deps);
  await aSubscription(deps, organization);
  await publish(deps, organization);
  clock.advance(10_000);
  assert.deepEqual(await lag(), ["partner_api_delivery_lag_seconds 10"]);
  await gate.close();
  assert.deepEqual(await lag(), []);
});

test("a silent database does not delay other metrics, and has a time limit for each statement", async () => {
  const never = () => new Promise(() => undefined);
  let unlimited = 0;
  const unbounded = () => {
    unlimited++;
    return never();
  };
  const silent = Object.assign(unbounded, { within: () => never }) as unknown as Database;
  const lines = await exposed(silent, 1).read();
  assert.ok(lines.includes("partner_api_attempts_under_way 3"));
  assert.ok(!lines.some((line) => line.startsWith("partner_api_delivery_lag_seconds")));
  assert.equal(unlimited, 0);
});

test("scrapes within a second share one statement", async () => {
  let asked = 0;
  const counting: Database = new Proxy(db, {
    apply: (target, self, args) => {
      asked++;
      return Reflect.apply(target, self, args) as unknown;
    },
    get: (target, name) =>
      name === "within" ? () => counting : (Reflect.get(target, name) as unknown),
  });
  const { read } = exposed(counting);
  await read();
  const once = asked;
  await Promise.all([read(), read()]);
  assert.ok(once > 0);
  assert.equal(asked, once);
});

test("every internal fault has a metric before it occurs", async () => {
  const { read } = exposed();
  assert.ok((await read()).includes('partner_api_internal_faults_total{fault="no_resolver"} 0'));
});

test("dead letters and disabled subscriptions are counted", async () => {
  const { metrics, read } = exposed();
  const deadLettered = [{}, {}] as Attempt[];
  metrics.noteRecorded({
    recorded: [],
    cancelled: [],
    disabled: ["one"],
    deadLettered,
    notices: [],
  });
  const lines = await read();
  assert.ok(lines.includes("partner_api_dead_letters_total 2"));
  assert.ok(lines.includes("partner_api_subscriptions_disabled_total 1"));
});

test("backlog, published events, build and end-to-end latency have metrics", async () => {
  const { deps: counted, clock: time } = await createEngine(db);
  const { activity } = counted;
  const metrics = createMetrics({ db, clock: { now: time, skewMs: 0 }, activity });
  const { organizationId, id } = await aSubscription(counted);
  await publish(counted, organizationId, 2);
  counted.activity.notePublished(organizationId, [id]);
  counted.activity.notePublished(organizationId, [id]);
  time.advance(20_000);
  metrics.noteRecorded(await attemptAll(counted, await claimAll(counted), () => acknowledged));
  await publish(counted, organizationId);
  await db`update waiting_deliveries set due_at = due_at + interval '1 hour'`;
  await publish(counted, organizationId);

  const lines = (await metrics.expose()).body.split("\n");
  for (const line of [
    'partner_api_backlog{state="due"} 1',
    'partner_api_backlog{state="scheduled"} 1',
    "partner_api_published_events_total 2",
    "partner_api_end_to_end_seconds_sum 40",
    "partner_api_end_to_end_seconds_count 2",
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.ok(lines.some((line) => /^partner_api_build_info\{version="[\d.]+",node="v\d/.test(line)));
});

test("the clock's skew is reported in seconds, in either direction", async () => {
  assert.ok((await exposed().read()).includes("partner_api_clock_skew_seconds -2.5"));
});

test("while the database is unavailable, only its clock is reported", async (t) => {
  const gate = await aGate(t, db);
  const names = async () =>
    (await exposed(gate.db).read())
      .filter((line) => /^partner_api_(delivery_lag|backlog|clock)/.test(line))
      .map((line) => line.slice(0, line.lastIndexOf(" ")));
  const clock = "partner_api_clock_skew_seconds";
  const [due, scheduled, held] = ["due", "scheduled", "held"].map(
    (state) => `partner_api_backlog{state="${state}"}`,
  );
  assert.deepEqual(await names(), [
    "partner_api_delivery_lag_seconds",
    due,
    scheduled,
    held,
    clock,
  ]);
  await gate.close();
  assert.deepEqual(await names(), [clock]);
});
