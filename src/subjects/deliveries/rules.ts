import { DETAILS, type FailureDetail } from "../../egress/index.ts";
import { after } from "../../lib/clock.ts";
import type {
  AttemptId,
  DeliveryId,
  EventId,
  LeaseId,
  OrganizationId,
  SubscriptionId,
} from "../../lib/ids.ts";

/** A delivery that this process may attempt until the lease ends. */
export interface Claim {
  id: DeliveryId;
  leaseId: LeaseId;
  leasedUntil: Date;
  eventId: EventId;
  type: string;
  subscriptionId: SubscriptionId;
  /** What stands for the subscription in the history. */
  subscriptionNumber: number;
  organizationId: OrganizationId;
  url: string;
  /** The number of earlier attempts. */
  attempts: number;
  lostLeases: number;
  /** The span that published the event. Null: not traced. */
  traceparent: string | null;
  /** Null if no key of the ring opens it. */
  signingSecret: string | null;
  body: Buffer;
}

/** An attempt that has ended. Internal faults and deferrals are no attempts. */
export interface Attempt {
  id: AttemptId;
  claim: Claim;
  outcome: Exclude<Outcome, { kind: "internal-fault" | "deferred" }>;
  startedAt: Date;
  endedAt: Date;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The delay after the first, second, … failed attempt. A delivery gets one attempt more than there
 * are delays.
 */
export const RETRY_DELAYS_MS: readonly number[] = [
  1 * MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  24 * HOUR_MS,
];

/**
 * The time of the next attempt after `attempts` failed ones, or null if none is left. `ended` is the end of the last attempt. A
 * delivery that was postponed or whose lease was lost was not attempted.
 */
function retryAt(delaysMs: readonly number[], attempts: number, ended: Date): Date | null {
  const delayMs = delaysMs[attempts - 1];
  return delayMs === undefined ? null : after(ended, delayMs);
}

export const DELIVERY_STATES = ["waiting", "delivered", "dead_lettered", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/**
 * After this many lost leases in a row, a delivery gets one failed attempt. Otherwise a delivery
 * that crashes its process would do so for ever.
 */
export const LOST_LEASES_MAX = 5;

/** How long a delivery waits after an internal fault. */
export const INTERNAL_FAULT_DELAY_MS = 60_000;

/** How long a delivery waits after it was deferred. */
export const DEFERRED_DELAY_MS = 1_000;

/** The state of a delivery after an attempt. */
export type NextState =
  { state: "waiting"; dueAt: Date } | { state: Exclude<DeliveryState, "waiting">; dueAt: null };

/**
 * Returns the next state of a delivery whose subscription is active. `attempts` includes the
 * attempt that just ended.
 */
export function afterAttempt(
  delaysMs: readonly number[],
  attempts: number,
  outcome: Attempt["outcome"],
  ended: Date,
): NextState {
  if (outcome.kind === "acknowledged") return { state: "delivered", dueAt: null };

  const dueAt = retryAt(delaysMs, attempts, ended);
  return dueAt === null ? { state: "dead_lettered", dueAt } : { state: "waiting", dueAt };
}

/**
 * An outcome as the audit shows it. `httpStatus` is 0 if the receiver returned no status. `reason` is null if the attempt succeeded,
 * and `detail` if there is nothing to add.
 */
export function auditOf(outcome: Attempt["outcome"]): {
  httpStatus: number;
  reason: string | null;
  detail: string | null;
} {
  switch (outcome.kind) {
    case "acknowledged":
      return { httpStatus: outcome.httpStatus, reason: null, detail: null };
    case "refused":
      return { httpStatus: outcome.httpStatus, reason: `http_${outcome.httpStatus}`, detail: null };
    case "unreachable":
      return { httpStatus: 0, reason: outcome.reason, detail: outcome.detail ?? null };
  }
}

/** Why an attempt failed if the receiver returned no status. */
export const FAILURE_REASONS = [
  "timeout",
  "dns_error",
  "address_not_public",
  "connection_refused",
  "connection_reset",
  "tls_error",
  "network_error",
  "protocol_error",
  "interrupted",
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** What there is to add to a reason. Partners see it as `detail`. */
export const FAILURE_DETAILS: readonly FailureDetail[] = Object.values(DETAILS).flat();

/**
 * The result of one attempt. Failures are expected, so they are values and not exceptions.
 * `internal-fault` does not count as an attempt, and the delivery waits a minute. `deferred` does not
 * count either: there was no room for the attempt, and the delivery waits a second.
 */
export type Outcome =
  | { kind: "acknowledged"; httpStatus: number }
  | { kind: "refused"; httpStatus: number }
  | { kind: "unreachable"; reason: FailureReason; detail?: FailureDetail | null }
  | { kind: "internal-fault"; fault: InternalFault; error?: unknown }
  | { kind: "deferred" };

/**
 * Internal faults: the conditions on our side that stop an attempt.
 *
 * Partners must not be able to cause one by a URL, name, address, certificate, answer or number of requests. If an error has
 * two possible causes, our own side must confirm the fault (`LocalChecks`, the resolver's probe). `unexpected` is an unforeseen
 * exception. Only a defect in our code raises it.
 */
export const INTERNAL_FAULTS = [
  "no_resolver",
  "no_descriptors",
  "no_ports",
  "no_route",
  "secret_sealed",
  "lease_spent",
  "unexpected",
  "stopping",
] as const;

export type InternalFault = (typeof INTERNAL_FAULTS)[number];
