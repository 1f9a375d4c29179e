import type { OrganizationId, ProcessId, SubscriptionId } from "../lib/ids.ts";
import type { FailureReason, Outcome } from "../subjects/deliveries/rules.ts";

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

/** A subscription that has something due, and its organization. */
export interface DueSubscription {
  subscriptionId: SubscriptionId;
  organizationId: OrganizationId;
}

/** A UUID in base64url. */
const ID_CHARS = 22;
const ID = /^[\w-]{22}$/;
const PAIR = /^[\w-]{44}$/;
/** PostgreSQL accepts a payload of less than 8,000 bytes. */
const PAYLOAD_MAX = 7_999;

/** The largest number of subscriptions in one nudge. */
export const NUDGE_MAX = Math.floor((PAYLOAD_MAX - ID_CHARS) / (2 * ID_CHARS));

/**
 * Returns a nudge of at most `NUDGE_MAX` subscriptions. Without an addressee it is for all other processes. Version 1.0.0 reads
 * a nudge with an addressee as one for all.
 */
export function encodeNudge(
  due: readonly DueSubscription[],
  addressee: ProcessId | null = null,
): string {
  const pairs = due.map((one) => pack(one.organizationId) + pack(one.subscriptionId)).join("");
  return addressee === null ? pairs : pairs + pack(addressee);
}

/** Returns the process that a nudge is for. Null: all. */
export function addresseeOf(text: string): ProcessId | null {
  const rest = text.slice(text.length - (text.length % (2 * ID_CHARS)));
  return ID.test(rest) ? unpack(rest) : null;
}

/** Returns the subscriptions of a nudge. Any role of the database can send one, so malformed parts are ignored. */
export function decodeNudge(text: string): DueSubscription[] {
  const due: DueSubscription[] = [];
  for (let at = 0; at < text.length; at += 2 * ID_CHARS) {
    const pair = text.slice(at, at + 2 * ID_CHARS);
    if (!PAIR.test(pair)) break;
    due.push({
      organizationId: unpack(pair.slice(0, ID_CHARS)),
      subscriptionId: unpack(pair.slice(ID_CHARS)),
    });
  }
  return due;
}

function pack(uuid: string): string {
  return Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64url");
}

function unpack(text: string): string {
  const hex = Buffer.from(text, "base64url").toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The most deliveries of a subscription that a claim takes. */
export interface Quota {
  subscriptionId: SubscriptionId;
  quota: number;
}

/** The part of all slots that only holders below their share may take. */
const RESERVED = 1 / 10;

interface Holding {
  /** All slots. */
  total: number;
  free: number;
  /** The number of holders that hold or wait for slots, this one included. */
  holders: number;
  /** The slots that this one holds. */
  held: number;
}

/**
 * Returns how many slots a holder may take up to its share: nine tenths of all slots, divided by the number of holders. A
 * holder takes at most nine tenths of the slots that others do not hold. So some are left for the next one, even if many arrive
 * together (dynamic thresholds, Choudhury and Hahne 1998). A holder of nothing may take one.
 */
export function belowShare({ total, free, holders, held }: Holding): number {
  const share = Math.max(1, Math.floor((total - reserveOf(total)) / holders));
  const least = held === 0 ? Math.min(1, free) : 0;
  const threshold = Math.max(least, Math.floor(free * (1 - RESERVED) - held * RESERVED));
  return Math.max(0, Math.min(share - held, threshold));
}

/** Returns how many slots a holder may take beyond its share. */
export function beyondShare({ total, free }: Pick<Holding, "total" | "free">): number {
  return Math.max(0, free - reserveOf(total));
}

function reserveOf(total: number): number {
  return Math.floor(total * RESERVED);
}
