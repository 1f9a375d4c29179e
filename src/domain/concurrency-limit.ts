import type { FailureReason, Outcome } from "./outcome.ts";

/**
 * How many attempts of one subscription may run at once.
 *
 * It adapts as TCP's congestion window does (RFC 5681): slow start, additive increase, multiplicative decrease.
 */
export interface ConcurrencyLimit {
  /** At least 1. The limit is its integer part. */
  readonly attempts: number;
  /** In slow start each answer adds 1, so the limit doubles with each answer time. */
  readonly isSlowStart: boolean;
  /** When it was last halved, in ms. */
  readonly halvedAtMs: number;
  /** True if the receiver has answered since then. */
  readonly isAnswered: boolean;
}

export const INITIAL_LIMIT: ConcurrencyLimit = {
  attempts: 16,
  isSlowStart: true,
  halvedAtMs: -Infinity,
  isAnswered: false,
};

/** `silent`: nothing was answered since the last attempt without an answer. `unknown`: no attempt has ended yet. */
export type Responsiveness = "unknown" | "responsive" | "silent";

export function responsivenessOf({ halvedAtMs, isAnswered }: ConcurrencyLimit): Responsiveness {
  if (isAnswered) return "responsive";
  return halvedAtMs > -Infinity ? "silent" : "unknown";
}

/** The effect of an attempt's end on the receiver's limit. */
export type Signal = "answered" | "unanswered" | "none";

/**
 * `unanswered`: no exchange could begin, or no whole answer came. `none`: the failure says nothing about the receiver's load.
 */
const SIGNALS: Readonly<Record<FailureReason, Signal>> = {
  timeout: "unanswered",
  dns_error: "unanswered",
  connection_refused: "unanswered",
  tls_error: "unanswered",
  network_error: "unanswered",
  connection_reset: "unanswered",
  address_not_public: "none",
  protocol_error: "none",
  interrupted: "none",
};

export function signalOf(outcome: Outcome): Signal {
  if (outcome.kind === "acknowledged" || outcome.kind === "refused") return "answered";
  return outcome.kind === "unreachable" ? SIGNALS[outcome.reason] : "none";
}

/** Returns the limit after an answer. It grows only while at least half of it is used. */
export function afterAnswer(
  limit: ConcurrencyLimit,
  { inFlight, max }: { inFlight: number; max: number },
): ConcurrencyLimit {
  const isUsed = 2 * inFlight >= Math.floor(limit.attempts);
  if (!isUsed || limit.attempts >= max)
    return limit.isAnswered ? limit : { ...limit, isAnswered: true };
  const step = limit.isSlowStart ? 1 : 1 / limit.attempts;
  return { ...limit, attempts: Math.min(max, limit.attempts + step), isAnswered: true };
}

/**
 * Returns the limit after an attempt without an answer: half. Attempts that began before the last halving count only if nothing
 * was answered since. So a dead receiver is at 1 after one timeout. A limit of 1 restarts with slow start.
 */
export function afterSilence(
  limit: ConcurrencyLimit,
  { beganMs, nowMs }: { beganMs: number; nowMs: number },
): ConcurrencyLimit {
  if (beganMs < limit.halvedAtMs && limit.isAnswered) return limit;
  const attempts = Math.max(1, limit.attempts / 2);
  return { attempts, isSlowStart: attempts === 1, halvedAtMs: nowMs, isAnswered: false };
}
