import assert from "node:assert/strict";
import { test } from "node:test";
import { createDeliverer } from "../../src/queue/deliver.ts";
import type { InternalFault } from "../../src/subjects/deliveries/rules.ts";
import { createDatabase } from "../support/database.ts";
import {
  acknowledged,
  anEngineWith,
  anOrganization,
  aSubscription,
  createEngine,
  publish,
} from "../support/engine.ts";

const db = await createDatabase();

const SUBSCRIPTIONS = 50;
const MINUTES = 10;
const FAULTS: InternalFault[] = [
  "no_resolver",
  "no_descriptors",
  "no_ports",
  "no_route",
  "unexpected",
];

for (const fault of FAULTS) {
  test(`ten minutes of ${fault} cause no failures of fifty subscriptions, and afterwards everything is delivered`, async () => {
    const { deps, clock, deliverDue } = await createEngine(db);
    const organization = await anOrganization(deps);
    for (let i = 0; i < SUBSCRIPTIONS; i++) await aSubscription(deps, organization);
    await publish(deps, organization);
    for (let minute = 0; minute < MINUTES; minute++) {
      assert.equal(await deliverDue(() => ({ kind: "internal-fault", fault })), SUBSCRIPTIONS);
      clock.advance(60_000);
    }

    const [harm] = await db`
      select (select count(*) from attempts a where a.subscription_id = any(array_agg(s.id)))::int as attempts,
             count(*) filter (where auto_disabled_at is not null)::int as disabled,
             sum(consecutive_failures)::int as failures
        from subscriptions s
       where organization_id = ${organization}`;
    assert.deepEqual({ ...harm }, { attempts: 0, disabled: 0, failures: 0 });

    assert.equal(await deliverDue(() => acknowledged), SUBSCRIPTIONS);
    const [delivered] = await db`
      select count(*)::int as count, max(attempts) as attempts from finished
       where organization_id = ${organization} and state = 'delivered'`;
    assert.deepEqual({ ...delivered }, { count: SUBSCRIPTIONS, attempts: 1 });
  });
}

test("the exception that stopped an attempt is reported with its delivery", async () => {
  const { deps, claim } = await anEngineWith(db, 1);
  const [claimed] = await claim();
  assert.ok(claimed);

  const error = new Error("nobody foresaw this");
  const told: unknown[] = [];
  const nothing = () => Promise.resolve();
  const deliver = createDeliverer({
    send: () => Promise.resolve({ kind: "internal-fault", fault: "unexpected", error }),
    clock: deps.clock,
    record: () => assert.fail("it is no attempt"),
    postpone: nothing,
    defer: nothing,
    onInternalFault: (...facts) => told.push(...facts),
    onEnded: () => assert.fail("it is no attempt"),
  });
  await (
    await deliver(claimed)
  ).recorded;
  assert.deepEqual(told, ["unexpected", claimed, error]);
});
