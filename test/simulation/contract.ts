import assert from "node:assert/strict";
import { type Delivery, isDue, isWaiting, of, type State, waitingFor } from "./state.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DELAYS = [1 * MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 24 * HOUR];
const LEASE = 30_000;
/** How long a dedupe key stands for its event. */
const DEDUPED = 24 * HOUR;
const FREE = { lost: 0, lease: null, until: null };

/** An attempt that ended, as its process reports it. */
export interface Told {
  delivery: string;
  lease: string;
  httpStatus: number;
  reason: string | null;
  startedAt: number;
  endedAt: number;
}

/*
 * The contract: the effect of each act on a state in memory. Written from the specification. Shares no
 * code with the service.
 */

export function accept(state: State, ids: Record<string, string>, event: string, now: number) {
  for (const [subscription, id] of Object.entries(ids)) {
    state.attempts[id] = [];
    state.deliveries[id] = {
      ...{ event, subscription, state: "waiting", attempts: 0, reason: null },
      ...{ due: now, lease: null, until: null, lost: 0 },
    };
  }
}

/** Takes a dedupe key for an event. If it stands for another one already, returns that instead. */
export function takeKey({ keys }: State, id: string, event: string, now: number): string | null {
  const held = keys[id];
  if (held && held.at > now - DEDUPED) return held.event;
  keys[id] = { event, at: now };
  return null;
}

export function subscribersOf({ subscriptions }: State, organization: string): string[] {
  return Object.entries(subscriptions)
    .filter(([, s]) => s.organization === organization && s.status === "active")
    .map(([id]) => id);
}

/**
 * Checks that a claim took the most overdue deliveries, of each subscription up to its quota, up to
 * the limit. Returns the subscriptions that it reached.
 */
export function checkQuotas(
  state: State,
  leases: Record<string, string>,
  { quotas, limit }: { quotas: { subscriptionId: string; quota: number }[]; limit: number },
  now: number,
): string[] {
  const reached: string[] = [];
  let spare = limit;
  for (const { subscriptionId: subscription, quota } of quotas) {
    const due = waitingFor(state, subscription).filter(([, d]) => isDue(d, now));
    const promised = Math.min(quota, due.length, spare);
    spare -= promised;
    if (promised > 0) reached.push(subscription);
    if (of(state.subscriptions, subscription).status !== "active") continue;
    const taken = due.filter(([id]) => id in leases);
    const left = due.filter(([id]) => !(id in leases));
    assert.equal(taken.length, promised, "a claim takes due deliveries");
    const latest = Math.max(...taken.map(([, d]) => d.due));
    assert.ok(
      left.every(([, d]) => d.due >= latest),
      "a claim takes the most overdue first",
    );
  }
  return reached;
}

/** `leases` has the claimed deliveries. */
export function claim(state: State, leases: Record<string, string>, now: number): void {
  for (const [id, lease] of Object.entries(leases)) {
    const delivery = of(state.deliveries, id);
    assert.ok(isDue(delivery, now), `${id} was claimed and is not due`);
    assert.ok(
      !of(state.subscriptions, delivery.subscription).held,
      `${id} was claimed and is held`,
    );
    delivery.lost = delivery.lease === null ? 0 : delivery.lost + 1;
    delivery.lease = lease;
    delivery.until = now + LEASE;
  }
}

/** Deliveries that were added as their subscription ended are cancelled when they are claimed. */
export function cancelStrays(state: State, subscriptions: string[], now: number): void {
  for (const id of subscriptions) {
    const hasDue = waitingFor(state, id).some(([, delivery]) => isDue(delivery, now));
    if (hasDue && of(state.subscriptions, id).status !== "active") cancelAll(state, id);
  }
}

/** Records outcomes in the order in which they ended. Only those with a current lease count. */
export function record(state: State, told: Told[]): void {
  const held = new Set(told.filter((one) => isHeld(of(state.deliveries, one.delivery), one)));
  for (const one of told) {
    const delivery = of(state.deliveries, one.delivery);
    if (held.has(one)) count(state, delivery, one);
    else if (delivery.state === "cancelled" && delivery.lease === one.lease) {
      delivery.attempts++;
      if (one.reason === null) finish(delivery, "delivered");
      note(state, delivery, one);
    }
  }
}

function isHeld(delivery: Delivery, { lease }: Told): boolean {
  return isWaiting(delivery) && delivery.lease === lease;
}

function count(state: State, delivery: Delivery, told: Told): void {
  const subscription = of(state.subscriptions, delivery.subscription);
  delivery.attempts++;
  if (subscription.status !== "active") {
    finish(delivery, told.reason === null ? "delivered" : "cancelled");
  } else if (told.reason === null) {
    subscription.failures = 0;
    finish(delivery, "delivered");
  } else {
    if (told.reason !== "interrupted") subscription.failures++;
    const delay = DELAYS[delivery.attempts - 1];
    if (delay === undefined) finish(delivery, "dead_lettered");
    else Object.assign(delivery, { due: told.endedAt + delay, ...FREE });
    if (subscription.failures === 20) {
      subscription.status = "disabled";
      subscription.disabledAt = told.endedAt;
      subscription.held = false;
      cancelAll(state, delivery.subscription);
    }
  }
  note(state, delivery, told);
}

function note(state: State, delivery: Delivery, told: Told): void {
  const { httpStatus, reason, startedAt, endedAt } = told;
  delivery.reason = reason ?? delivery.reason;
  delivery.lease = null;
  of(state.attempts, told.delivery).push({
    ...{ number: delivery.attempts, httpStatus, reason, startedAt, endedAt },
    deadLettered: delivery.state === "dead_lettered",
    nextAt: delivery.due,
  });
}

/** After an internal fault there is no attempt, and the delivery waits a minute. */
export function postpone(state: State, id: string, lease: string, now: number): void {
  const delivery = of(state.deliveries, id);
  if (!isWaiting(delivery) || delivery.lease !== lease) return;
  Object.assign(delivery, { due: now + MINUTE, ...FREE });
}

/** An operator holds a subscription, or releases it. Nothing else changes. */
export function hold(state: State, subscription: string, held: boolean): void {
  of(state.subscriptions, subscription).held = held;
}

/** An operator wants an attempt now. One that is due already keeps its place. */
export function attemptNow(state: State, id: string, now: number): void {
  const delivery = of(state.deliveries, id);
  assert.ok(isWaiting(delivery), "only waiting deliveries are attempted now");
  delivery.due = Math.min(delivery.due, now);
}

export function remove(state: State, subscription: string): void {
  of(state.subscriptions, subscription).status = "deleted";
  of(state.subscriptions, subscription).held = false;
  cancelAll(state, subscription);
}

/** An attempt in flight may still be recorded, even after the end of its lease. */
function cancelAll(state: State, subscription: string): void {
  for (const [, delivery] of waitingFor(state, subscription)) {
    const { lease } = delivery;
    finish(delivery, "cancelled");
    delivery.lease = lease;
  }
}

function finish(delivery: Delivery, state: Delivery["state"]): void {
  Object.assign(delivery, { state, due: null, ...FREE });
}
