import { afterAttempt, type CountedOutcome, type NextState } from "./delivery.ts";

/** What the outcomes of attempts change about a subscription. */
export interface Health {
  consecutiveFailures: number;
  active: boolean;
}

/** An attempt that ended, as far as its consequences depend on it. `attempts` includes it. */
export interface CountedAttempt {
  attempts: number;
  outcome: CountedOutcome;
  endedAt: Date;
}

/** The most that MAX_SUBSCRIPTIONS may allow an organization: they go into one list, and into one statement. */
export const SUBSCRIPTIONS_MAX = 10_000;

export interface Rules {
  retryDelaysMs: readonly number[];
  autoDisableAfter: number;
}

/**
 * Applies outcomes of one subscription in the order in which they ended: where each delivery goes, and how the
 * subscription stands afterwards. From the failure that disables it on, nothing is retried and nothing more counts.
 */
export function applyOutcomes<Attempt extends CountedAttempt>(
  rules: Rules,
  before: Health,
  ended: readonly Attempt[],
): { health: Health; disabledAt: Date | null; moves: { attempt: Attempt; next: NextState }[] } {
  let { consecutiveFailures, active } = before;
  let disabledAt: Date | null = null;

  const moves = ended.map((attempt) => ({ attempt, next: move(attempt) }));
  return { health: { consecutiveFailures, active }, disabledAt, moves };

  function move({ attempts, outcome, endedAt }: Attempt): NextState {
    if (!active) return afterTheEnd(outcome);

    consecutiveFailures = outcome.kind === "acknowledged" ? 0 : consecutiveFailures + 1;
    const state = afterAttempt(rules.retryDelaysMs, attempts, outcome, endedAt);
    if (consecutiveFailures < rules.autoDisableAfter) return state;

    active = false;
    disabledAt = endedAt;
    return state.state === "waiting" ? { state: "cancelled", dueAt: null } : state;
  }

  /** What still waits of a subscription that had ended before was accepted just then: it can be delivered, not retried. */
  function afterTheEnd({ kind }: CountedOutcome): NextState {
    const isDelivered = kind === "acknowledged" && !before.active;
    return { state: isDelivered ? "delivered" : "cancelled", dueAt: null };
  }
}
