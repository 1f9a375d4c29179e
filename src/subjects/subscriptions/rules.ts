import { after } from "../../lib/clock.ts";
import { type Fault, rangeFaults } from "../../lib/errors.ts";
import { afterAttempt, type Attempt, type NextState } from "../deliveries/rules.ts";

export const CEILING_MAX = 10_000;

/** A token bucket: how many attempts of one subscription may begin. */
export interface Ceiling {
  maxPerSecond: number;
  /** The tokens of a full bucket. */
  burst: number;
  /** When the bucket is full again. */
  fullAt: Date;
  /** The tokens that are available now. */
  tokens: number;
}

/** The tokens of a tenth of a second, so that attempts spread over the second. */
export function burstOf(maxPerSecond: number): number {
  return Math.ceil(maxPerSecond / 10);
}

/** Returns the time until the bucket is half full, after all its tokens were taken. */
export function refillMs({ maxPerSecond, burst, fullAt, tokens }: Ceiling, now: Date): number {
  const spentMs = Math.max(0, fullAt.getTime() - now.getTime());
  const taken = Math.max(0, tokens) - Math.floor(burst / 2);
  return Math.max(0, Math.floor(spentMs + (taken * 1000) / maxPerSecond)) + 1;
}

export function changeFaults({
  maxPerSecond,
  held,
}: {
  maxPerSecond?: number | null | undefined;
  held?: boolean | undefined;
}): Fault[] {
  if (maxPerSecond === undefined && held === undefined) {
    return [{ pointer: "/max_per_second", detail: "must be given, unless held is" }];
  }
  return ceilingFaults(maxPerSecond ?? null);
}

export function ceilingFaults(maxPerSecond: number | null): Fault[] {
  if (maxPerSecond === null) return [];
  const faults = rangeFaults("/max_per_second", maxPerSecond, CEILING_MAX);
  return faults.map(({ pointer, detail }) => ({ pointer, detail: `${detail}, or null` }));
}

/** How long history and deliveries are kept. */
export interface Keeping {
  retentionMs: number;
  rules: { retryDelaysMs: readonly number[] };
}

/**
 * Returns when a held subscription must be released at the latest. A delivery that waited for its last attempt when the hold began
 * is then as old as the retention: the log of its attempts begins to expire, and its event stays longer than it should.
 */
export function releaseBy(heldAt: Date, { retentionMs, rules }: Keeping): Date {
  const retriesMs = rules.retryDelaysMs.reduce((sum, ms) => sum + ms, 0);
  return after(heldAt, Math.max(0, retentionMs - retriesMs));
}

/** True from three quarters of the time on. */
export function isReleaseNear(heldAt: Date, keeping: Keeping, now: Date): boolean {
  const heldMs = now.getTime() - heldAt.getTime();
  return heldMs >= 0.75 * (releaseBy(heldAt, keeping).getTime() - heldAt.getTime());
}

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
