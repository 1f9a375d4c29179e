import type { Outcome } from "./outcome.ts";
import { retryAt } from "./retry-schedule.ts";

export const DELIVERY_STATES = ["waiting", "delivered", "dead_lettered", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Leases lost in a row that make one failed attempt: a delivery that kills its process must not do so for ever. */
export const LOST_LEASES_MAX = 5;

/** How long a delivery waits for us to mend a fault of our own. */
export const OUR_FAULT_DELAY_MS = 60_000;

/** How long a delivery waits for room. */
export const DEFERRED_DELAY_MS = 1_000;

/** An outcome that counts. */
export type CountedOutcome = Exclude<Outcome, { kind: "our-fault" | "deferred" }>;

/** Where a delivery goes once an attempt is over. */
export type NextState =
  { state: "waiting"; dueAt: Date } | { state: Exclude<DeliveryState, "waiting">; dueAt: null };

/** The whole life of a delivery in one place, while its subscription is active: `attempts` includes the one that just ended. */
export function afterAttempt(
  delaysMs: readonly number[],
  attempts: number,
  outcome: CountedOutcome,
  ended: Date,
): NextState {
  if (outcome.kind === "acknowledged") return { state: "delivered", dueAt: null };

  const dueAt = retryAt(delaysMs, attempts, ended);
  return dueAt === null ? { state: "dead_lettered", dueAt } : { state: "waiting", dueAt };
}

/** What the audit says of an outcome: 0 where the receiver returned no status, no reason where nothing failed. */
export function auditOf(outcome: CountedOutcome): { httpStatus: number; reason: string | null } {
  switch (outcome.kind) {
    case "acknowledged":
      return { httpStatus: outcome.httpStatus, reason: null };
    case "refused":
      return { httpStatus: outcome.httpStatus, reason: `http_${outcome.httpStatus}` };
    case "unreachable":
      return { httpStatus: 0, reason: outcome.reason };
  }
}
