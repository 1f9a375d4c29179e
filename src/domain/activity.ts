import { bucketOf } from "./latency-histogram.ts";

/** The counters besides reasons and latencies. */
export const COUNTERS = [
  "published",
  "requests",
  "rate_limited",
  "succeeded",
  "failed",
  "duration_ms",
  "delivered",
  "dead_lettered",
  "cancelled",
  "disabled",
] as const;

export type Counter = (typeof COUNTERS)[number];

/** The kind of a row of activity. The row of the whole service has the nil UUID. */
export type ActivityKind = "service" | "organization" | "subscription";
export const SERVICE_SCOPE = "00000000-0000-0000-0000-000000000000";

/** The counts of one process, for one scope and one minute. */
export class ActivityCounts {
  readonly counters = Object.fromEntries(COUNTERS.map((name) => [name, 0])) as Record<
    Counter,
    number
  >;
  readonly reasons = new Map<string, number>();
  readonly attemptMs = new Map<number, number>();
  readonly endToEndMs = new Map<number, number>();

  add(counter: Counter, count = 1): void {
    this.counters[counter] += count;
  }

  /** `reason`: null if the attempt succeeded. */
  addAttempt(ms: number, reason: string | null): void {
    this.add("duration_ms", ms);
    count(this.attemptMs, bucketOf(ms));
    this.add(reason === null ? "succeeded" : "failed");
    if (reason === null) return;
    const isRoom = this.reasons.size < REASONS_MAX || this.reasons.has(reason);
    count(this.reasons, isRoom ? reason : OTHER_REASONS);
  }

  addEndToEnd(ms: number): void {
    count(this.endToEndMs, bucketOf(ms));
  }
}

/** Different reasons in one row. A receiver may return any of 900 statuses. Further ones are counted together. */
const REASONS_MAX = 50;
const OTHER_REASONS = "other";

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

export const MINUTE_MS = 60_000;

/** Minutes are turned into hours at this age. */
export const MINUTES_KEPT_MS = 48 * 60 * MINUTE_MS;

/** The length of time that a point of activity covers. */
export const STEPS_MS = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "1d": 1_440 * MINUTE_MS,
} as const;

export type Step = keyof typeof STEPS_MS;

export const POINTS_MAX = 1_000;

/** The start of the period that contains a moment. Days are in UTC. */
export function periodAt(moment: Date, ms: number): Date {
  return new Date(Math.floor(moment.getTime() / ms) * ms);
}
