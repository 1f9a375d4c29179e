import assert from "node:assert/strict";
import { listDueSubscriptions } from "../../src/subjects/deliveries/claims-sql.ts";
import { claimDeliveries, type Wanted } from "../../src/subjects/deliveries/claims.ts";
import type { Claim } from "../../src/subjects/deliveries/rules.ts";
import type { Act, Effect, Subscribed } from "./acts.ts";
import * as contract from "./contract.ts";
import type { Process } from "./process.ts";
import { isActive, isDue, of, type State, waitingFor } from "./state.ts";

/** The order of subscriptions, so that a story can be repeated, and the total number of deliveries. */
interface Bounds {
  order: Subscribed[];
  limit: number;
}

/** Claims up to `quota` deliveries of each subscription. */
export function claiming(process: Process, quota: number, { order, limit }: Bounds): Act {
  const place = (subscription: string) => order.findIndex(({ id }) => id === subscription);
  return {
    run: async (deps) => {
      const now = deps.clock();
      const { due } = await listDueSubscriptions(deps.db, { now, after: null, limit: 1000 });
      due.sort((a, b) => place(a.subscriptionId) - place(b.subscriptionId));
      const quotas = due.map(({ subscriptionId }) => ({ subscriptionId, quota }));
      const wanted = { quotas, limit: Math.min(limit, quota * quotas.length) };
      const { claims } = await claimDeliveries(deps, wanted);
      await deps.cancelling.restCancelled();
      await process.begin(claims);
      return claimed(wanted, claims, now.getTime());
    },
    remains: (before) => {
      const now = process.now;
      const take: Effect = (state, { seen }) => {
        contract.claim(state, newLeases(state, seen), now);
      };
      const cancel: Effect = (state, { seen }) => {
        contract.cancelStrays(state, nothingLeft(seen, dueAt(before, now), now), now);
        keepLeasesOf(state, seen);
      };
      return [
        take,
        (state, context) => {
          take(state, context);
          cancel(state, context);
        },
      ];
    },
  };
}

function claimed(wanted: Wanted, claims: Claim[], now: number): Effect {
  const leases = Object.fromEntries(claims.map((c) => [c.id, c.leaseId]));
  const due = wanted.quotas.map((one) => one.subscriptionId).sort();
  return (state, { before, seen, isContested }) => {
    const dueBefore = dueAt(before, now);
    let reached: string[];
    if (isContested) {
      const isKnown = due.every((id) => dueBefore.includes(id));
      assert.ok(isKnown, "only due subscriptions are found"); // Another act records in two transactions, so there may be fewer.
      reached = nothingLeft(seen, due, now);
    } else {
      assert.deepEqual(due, dueBefore, "all due subscriptions are found");
      reached = contract.checkQuotas(state, leases, wanted, now);
    }
    contract.claim(state, leases, now);
    contract.cancelStrays(state, reached, now);
    keepLeasesOf(state, seen);
    for (const { id, subscriptionId, attempts, lostLeases } of claims) {
      assert.ok(isActive(state, subscriptionId), "nothing is attempted after delete or disable");
      assert.ok(due.includes(subscriptionId), "only requested subscriptions are claimed");
      const delivery = of(state.deliveries, id);
      assert.deepEqual([attempts, lostLeases], [delivery.attempts, delivery.lost]);
    }
  };
}

function dueAt(state: State, now: number): string[] {
  return Object.keys(state.subscriptions)
    .filter((id) => !of(state.subscriptions, id).held)
    .filter((id) => waitingFor(state, id).some(([, delivery]) => isDue(delivery, now)))
    .sort();
}

/** The subscriptions that the claim has emptied. It may not have reached all, because of its limit. */
function nothingLeft(seen: State, subscriptions: string[], now: number): string[] {
  const due = new Set(dueAt(seen, now));
  return subscriptions.filter((id) => !due.has(id));
}

/** The leases of a claim that was broken off. */
function newLeases(state: State, seen: State): Record<string, string> {
  const leases: Record<string, string> = {};
  for (const [id, { lease }] of Object.entries(seen.deliveries)) {
    if (lease !== null && lease !== of(state.deliveries, id).lease) leases[id] = lease;
  }
  return leases;
}

/** A delivery that was added as its subscription ended is cancelled under the lease that found it. */
function keepLeasesOf(state: State, seen: State): void {
  for (const [id, delivery] of Object.entries(state.deliveries)) {
    const actual = seen.deliveries[id];
    if (delivery.state !== "cancelled" || delivery.lease !== null) continue;
    if (actual?.state === "cancelled") delivery.lease = actual.lease;
  }
}
