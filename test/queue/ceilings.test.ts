import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Dispatcher } from "../../src/queue/dispatcher.ts";
import { listDueSubscriptions } from "../../src/subjects/deliveries/claims-sql.ts";
import { claimDeliveries } from "../../src/subjects/deliveries/claims.ts";
import { publishAtOnce } from "../../src/subjects/events/publish.ts";
import { redeliver } from "../../src/subjects/redeliveries/work.ts";
import { burstOf } from "../../src/subjects/subscriptions/rules.ts";
import { changeSubscription } from "../../src/subjects/subscriptions/work.ts";
import { createDatabase } from "../support/database.ts";
import {
  anOrganization,
  aSubscription,
  createEngine,
  publish,
  refused,
} from "../support/engine.ts";

const db = await createDatabase({ max: 8 });
const { deps, clock, claim, deliverDue } = await createEngine(db);

async function aLimited(maxPerSecond: number, events: number): Promise<string> {
  const { id, organizationId } = await aSubscription(deps);
  await changeSubscription(deps, id, { maxPerSecond });
  await publish(deps, organizationId, events);
  return id;
}

/** A dispatcher with its own process, on the virtual clock. It notes the time of each attempt's claim. */
function aDispatcher(beganMs: number[]): Dispatcher {
  return new Dispatcher({
    listDue: (page) => listDueSubscriptions(db, { now: clock(), ...page }),
    claim: (wanted) => claimDeliveries(deps, wanted),
    deliver: ({ leasedUntil }) => {
      beganMs.push(leasedUntil.getTime() - deps.rules.leaseMs);
      return Promise.resolve({ signal: "none", recorded: Promise.resolve() });
    },
    defer: () => Promise.resolve(),
    onContended: () => undefined,
    concurrency: 256,
    subscriptionConcurrency: 128,
    elapsedMs: () => clock().getTime(),
    pollIntervalMs: 1,
    onError: (error) => {
      throw error;
    },
  });
}

test("two dispatchers never make more attempts in a second than the ceiling and one burst", async () => {
  const steps = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 10, maxLength: 10 });
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 120 }),
    steps,
    async (max, stepsMs) => {
      await db`delete from waiting_deliveries`;
      const count = 2 * max + 2;
      await aLimited(max, count);
      const beganMs: number[] = [];
      const dispatchers = [aDispatcher(beganMs), aDispatcher(beganMs)];
      for (const dispatcher of dispatchers) dispatcher.start();
      for (let n = 0; beganMs.length < count; n++) {
        clock.advance(stepsMs[n % stepsMs.length] ?? 1);
        await new Promise((resolve) => setTimeout(resolve, 1)); // Lets the dispatchers continue.
      }
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));

      assert.equal(beganMs.length, count);
      for (const since of beganMs) {
        const within = beganMs.filter((at) => at >= since && at < since + 1_000).length;
        assert.ok(within <= max + burstOf(max), `${within} of ${max} in a second`);
      }
    },
  );
  await fc.assert(property, { numRuns: 6 });
});

test("simultaneous claims share one bucket, which refills with time", async () => {
  const id = await aLimited(100, 60);
  const wanted = { quotas: [{ subscriptionId: id, quota: 16 }], limit: 64 };
  const claimAtOnce = async () => {
    const taken = await Promise.all([1, 2, 3, 4].map(() => claimDeliveries(deps, wanted)));
    return taken.flatMap(({ claims }) => claims).length;
  };
  assert.equal(await claimAtOnce(), 10);
  assert.equal(await claimAtOnce(), 0);
  clock.advance(30);
  assert.equal(await claimAtOnce(), 3);
  clock.advance(60_000);
  assert.equal(await claimAtOnce(), 10, "a bucket holds one burst");
});

test("a claim returns the pause for a used-up ceiling, and takes deliveries of other subscriptions", async () => {
  const limited = await aLimited(10, 5);
  const other = await aSubscription(deps);
  await publish(deps, other.organizationId, 5);
  const quotas = [limited, other.id].map((subscriptionId) => ({ subscriptionId, quota: 4 }));
  const first = await claimDeliveries(deps, { quotas, limit: 64 });
  assert.deepEqual(
    [limited, other.id].map((id) => first.subscriptionIds.filter((taken) => taken === id).length),
    [1, 4],
  );
  assert.deepEqual(first.throttled, [{ subscriptionId: limited, forMs: 101 }]);
  const [row] = await db<[{ waiting: number }]>`
    select count(*)::int as waiting from waiting_deliveries
     where subscription_id = ${limited} and lease_id is null and attempts = 0`;
  assert.equal(row.waiting, 4, "a delivery that waits for its turn has no lease and no attempt");
});

test("a ceiling with more tokens than the subscription has slots does not raise its slots", async () => {
  const id = await aLimited(1_000, 30);
  const other = await aSubscription(deps);
  await publish(deps, other.organizationId, 30);
  const quotas = [
    { subscriptionId: id, quota: 3 },
    { subscriptionId: other.id, quota: 5 },
  ];
  const { subscriptionIds, throttled } = await claimDeliveries(deps, { quotas, limit: 64 });
  const takenOf = (wanted: string) => subscriptionIds.filter((taken) => taken === wanted).length;
  assert.deepEqual([takenOf(id), takenOf(other.id)], [3, 5]);
  assert.deepEqual(throttled, []);
});

test("under a ceiling, deliveries are not published with a lease", async () => {
  const { id, organizationId } = await aSubscription(deps);
  let begun = 0;
  const reserve = () => ({
    slots: 64,
    except: [],
    end: (claims: unknown[]) => {
      begun += claims.length;
    },
  });
  const event = { organizationId, type: "vc.test.ping", data: "{}" };
  await publishAtOnce({ ...deps, reserve }, [event]);
  assert.equal(begun, 1);
  await changeSubscription(deps, id, { maxPerSecond: 5 });
  const nudged: unknown[] = [];
  await publishAtOnce({ ...deps, reserve, nudge: (due) => nudged.push(...due) }, [event]);
  assert.equal(begun, 1);
  assert.deepEqual(nudged, [{ subscriptionId: id, organizationId }]);
});

test("retries and redeliveries stay below the ceiling, too", async () => {
  await db`delete from waiting_deliveries`;
  const organizationId = await anOrganization(deps);
  const { id } = await aSubscription(deps, organizationId);
  await publish(deps, organizationId, 15);
  assert.equal(await deliverDue(() => refused), 15);
  await changeSubscription(deps, id, { maxPerSecond: 20 });
  clock.advance(60_000);
  assert.equal((await claim()).length, 2, "of 15 retries that are due");

  await db`delete from waiting_deliveries`;
  const [event] = await publish(deps, organizationId);
  await db`
    insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, troubled_organization_id)
    select id, due_at, (select number from subscriptions where id = subscription_id), 1, 0, organization_id
      from waiting_deliveries where event_id = ${event ?? null}`;
  const [finished] = await db<[{ id: string }]>`delete from waiting_deliveries returning id`;
  for (let n = 0; n < 5; n++) await redeliver(deps, finished.id);
  clock.advance(60_000);
  assert.equal((await claim()).length, 2, "of 5 redeliveries");
});
