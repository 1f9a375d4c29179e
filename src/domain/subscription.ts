import type { Attempt } from "./attempt.ts";
import { afterAttempt, type NextState } from "./delivery.ts";

/** The fields of a subscription that outcomes change. */
export interface Health {
  consecutiveFailures: number;
  active: boolean;
}

/**
 * The upper bound of MAX_SUBSCRIPTIONS. All of an organization's subscriptions go into one list and
 * one statement.
 */
export const SUBSCRIPTIONS_MAX = 10_000;

/** The length limit of a subscription's event types, joined by commas. */
export const EVENTS_LENGTH_MAX = 2_000;

/** `failing`: auto-disabled ones first, then by failures in a row, most first. */
export const SUBSCRIPTION_ORDERS = ["newest", "failing"] as const;
export type SubscriptionOrder = (typeof SUBSCRIPTION_ORDERS)[number];

/** The consequence of an attempt for its delivery. */
export interface Move {
  attempt: Attempt;
  next: NextState;
}

export interface Rules {
  retryDelaysMs: readonly number[];
  autoDisableAfter: number;
}

/**
 * Applies the outcomes of one subscription in the order in which the attempts ended. Returns the next state
 * of each delivery and the subscription's new health. After the failure that disables the
 * subscription, nothing is retried and nothing more is counted. What a receiver acknowledges is delivered all the same.
 */
export function applyOutcomes(
  rules: Rules,
  before: Health,
  attempts: readonly Attempt[],
): { health: Health; disabledAt: Date | null; moves: Move[] } {
  let { consecutiveFailures, active } = before;
  let disabledAt: Date | null = null;

  const moves = attempts.map((attempt) => ({ attempt, next: move(attempt) }));
  return { health: { consecutiveFailures, active }, disabledAt, moves };

  function move({ claim, outcome, endedAt }: Attempt): NextState {
    if (!active) return { state: isAcknowledged(outcome) ? "delivered" : "cancelled", dueAt: null };

    const state = afterAttempt(rules.retryDelaysMs, claim.attempts + 1, outcome, endedAt);
    if (isInterrupted(outcome)) return state;

    consecutiveFailures = isAcknowledged(outcome) ? 0 : consecutiveFailures + 1;
    if (consecutiveFailures < rules.autoDisableAfter) return state;

    active = false;
    disabledAt = endedAt;
    return state.state === "waiting" ? { state: "cancelled", dueAt: null } : state;
  }
}

function isAcknowledged({ kind }: Attempt["outcome"]): boolean {
  return kind === "acknowledged";
}

/** Returns true if our processes ended the attempt. It counts, but must not disable a partner's subscription. */
function isInterrupted(outcome: Attempt["outcome"]): boolean {
  return outcome.kind === "unreachable" && outcome.reason === "interrupted";
}
