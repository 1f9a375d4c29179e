import type { Attempt } from "./attempt.ts";
import { retryAt } from "./retry-schedule.ts";

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
