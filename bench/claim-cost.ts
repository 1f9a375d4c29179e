import { after } from "../src/lib/clock.ts";
import { randomId } from "../src/lib/ids.ts";
import type { Database } from "../src/postgres/database.ts";
import { Due } from "../src/queue/due.ts";
import { Slots } from "../src/queue/slots.ts";
import { claimDue, listDueSubscriptions } from "../src/subjects/deliveries/claims-sql.ts";
import type { Wanted } from "../src/subjects/deliveries/claims.ts";
import { passThroughQueue } from "./support/busy-hour.ts";
import { fillQueue } from "./support/queue.ts";
import { inMs } from "./support/report.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = 300;
const LIMIT_MS = 20_000;
const LOOK_MAX = 1_000;
/** As many free slots as a process has. */
const SLOTS = new Slots(256, 16);
const LEASE_MS = 30_000;
const IN_AN_HOUR_MS = 3_600_000;

/** The cost of a scan that finds nothing to do, with a long queue. */
export const claimCost: Scenario = {
  name: "claim-cost",
  run: async (rig) => {
    const [empty, noneDue, allDue] = await Promise.all([
      rig.stage(rig.receivers.urls(101)),
      waiting(rig, { dueInMs: IN_AN_HOUR_MS }),
      waiting(rig, { ofOne: true }),
    ]);

    const times = new Map<Stage, number[]>([empty, noneDue, allDue].map((stage) => [stage, []]));
    const until = performance.now() + LIMIT_MS;
    for (let round = 0; round < rig.size(ROUNDS, 20) && performance.now() < until; round++) {
      for (const [stage, all] of times) all.push(await timeOf(stage));
    }

    const [atEmpty = NaN, atNoneDue = NaN, atAllDue = NaN] = [...times.values()].map(median);
    const goal = { must: 1.5, aim: 1.1, unit: "×" } as const;
    const against = (ms: number) => ({
      value: ms / atEmpty,
      measured: `${inMs(ms)}, with an empty queue ${inMs(atEmpty)}`,
    });
    return [
      atMost("claim with 1,000,000 waiting, none due", goal, against(atNoneDue)),
      atMost("claim with 1,000,000 due for a saturated subscription", goal, against(atAllDue)),
    ];
  },
};

/**
 * Creates a million waiting deliveries after a busy hour. With `ofOne`, all belong to the first subscription.
 */
async function waiting(
  rig: Rig,
  { dueInMs = 0, ofOne = false }: { dueInMs?: number; ofOne?: boolean },
): Promise<Stage> {
  const stage = await rig.stage(rig.receivers.urls(101));
  const [saturated, ...others] = stage.subscriptions;
  const owners = saturated !== undefined && ofOne ? [saturated] : others;
  await fillQueue(stage.db, owners, rig.size(1_000_000, 10_000), { dueInMs });
  await passThroughQueue(stage.db, others, rig.size(200_000, 2_000));
  await stage.db`analyze waiting_deliveries`;
  return stage;
}

/**
 * One round of a dispatcher: a scan, then claims for all subscriptions except the saturated first one. Each
 * claim has the size that a dispatcher would use.
 */
async function timeOf({ db, subscriptions }: Stage): Promise<number> {
  const now = new Date();
  const began = performance.now();
  await listDueSubscriptions(db, { now, after: null, limit: LOOK_MAX });
  const due = new Due({ listDue: () => Promise.reject(new Error("no scan")), pollIntervalMs: 0 });
  due.add(subscriptions.slice(1).map(({ id }) => ({ subscriptionId: id, organizationId: id })));
  while (due.size > 0) {
    const wanted = SLOTS.allot(due);
    await claimNothing(db, wanted, now);
    for (const { subscriptionId } of wanted.quotas) due.keepOrDrop(subscriptionId, false);
  }
  return performance.now() - began;
}

async function claimNothing(db: Database, wanted: Wanted, now: Date): Promise<void> {
  const lease = { now, leasedUntil: after(now, LEASE_MS), leaseId: randomId() };
  const { claimed } = await claimDue(db, wanted, lease);
  if (claimed.length > 0) throw new Error(`${claimed.length} deliveries were due`);
}
