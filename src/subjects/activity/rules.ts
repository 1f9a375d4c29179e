/** Each bucket ends at this multiple of the one before. */
const GROWTH = 1.15;
const LOG_GROWTH = Math.log(GROWTH);

/** Ten days. Longer times are counted in the last bucket. */
const LONGEST_MS = 10 * 86_400_000;

/** The counts by bucket. Buckets without a count are absent. */
export type LatencyHistogram = ReadonlyMap<number, number>;

/** The largest relative error of a quantile: half the width of a bucket. */
export const LATENCY_ERROR = Math.sqrt(GROWTH) - 1;

/** Bucket 0 holds times of up to 1 ms. Bucket n holds those above `GROWTH ** (n - 1)` ms and up to `GROWTH ** n` ms. */
export function bucketOf(ms: number): number {
  if (ms <= 1) return 0;
  return Math.ceil(Math.log(Math.min(ms, LONGEST_MS)) / LOG_GROWTH - 1e-9);
}

/** The largest bucket. */
export const BUCKET_MAX = bucketOf(LONGEST_MS);

/** Returns the sum of histograms. Nothing is lost, because all have the same buckets. */
export function mergeHistograms(histograms: Iterable<LatencyHistogram>): LatencyHistogram {
  const merged = new Map<number, number>();
  for (const histogram of histograms) {
    for (const [bucket, count] of histogram) merged.set(bucket, (merged.get(bucket) ?? 0) + count);
  }
  return merged;
}

/** Returns the quantile `q` in whole ms: the middle of its bucket. Null if nothing was counted. */
export function quantileMs(histogram: LatencyHistogram, q: number): number | null {
  let total = 0;
  for (const count of histogram.values()) total += count;
  if (total === 0) return null;

  const rank = Math.max(1, Math.ceil(q * total));
  let seen = 0;
  for (const [bucket, count] of [...histogram].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= rank) return middleOf(bucket);
  }
  return null;
}

/** The median and the 99th percentile. */
export interface Latency {
  p50: number | null;
  p99: number | null;
  /** The counts by bucket, for merges. */
  buckets?: Record<string, number>;
}

export function latencyOf(histogram: LatencyHistogram): Latency {
  return { p50: quantileMs(histogram, 0.5), p99: quantileMs(histogram, 0.99) };
}

/** Returns the geometric middle of a bucket. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 1 : Math.round(GROWTH ** (bucket - 0.5));
}

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

/** The status of the service. `down`: nothing is accepted or nothing is delivered. */
export const SERVICE_STATUSES = ["ok", "degraded", "down"] as const;
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];

/** A reason why the service is not well. `since` is ISO 8601. */
export interface Problem {
  code: string;
  detail: string;
  since: string;
}

/** Problems that stop all publishing or all deliveries. */
const FATAL = new Set(["database", "no_dispatcher"]);

/** A due delivery should not wait longer. */
export const LAG_MAX_SECONDS = 60;

export function statusOf(problems: readonly Problem[]): ServiceStatus {
  if (problems.length === 0) return "ok";
  return problems.some(({ code }) => FATAL.has(code)) ? "down" : "degraded";
}

/** A readiness check, as `/readyz` reports it. */
export interface Check {
  name: string;
  ok: boolean;
  detail?: string;
}

/** Remembers the start of each problem. */
export class ProblemLog {
  #since = new Map<string, string>();

  /** Adds to each problem the time since which this log has seen it in every call. */
  date(found: readonly Omit<Problem, "since">[], now: Date): Problem[] {
    const before = this.#since;
    const problems = found.map((one) => ({
      ...one,
      since: before.get(one.code) ?? now.toISOString(),
    }));
    this.#since = new Map(problems.map(({ code, since }) => [code, since]));
    return problems;
  }
}

/** The meaning of failed checks whose name says too little. */
const MEANINGS = new Map([["database", "The database is unavailable"]]);

/** Returns a problem for each failed check. */
export function problemsOf(checks: readonly Check[]): Omit<Problem, "since">[] {
  return checks
    .filter(({ ok }) => !ok)
    .map(({ name, detail }) => ({
      code: name,
      detail: `${MEANINGS.get(name) ?? name}${detail === undefined ? "" : `: ${detail}`}`,
    }));
}

/** Returns each code once, with the earliest time. Problems that stop everything come first, then the oldest. */
export function mergeProblems(problems: readonly Problem[]): Problem[] {
  const byCode = new Map<string, Problem>();
  for (const one of problems) {
    const known = byCode.get(one.code);
    if (known === undefined) byCode.set(one.code, one);
    else if (one.since < known.since) byCode.set(one.code, { ...known, since: one.since });
  }
  const isMinor = ({ code }: Problem) => Number(!FATAL.has(code));
  return [...byCode.values()].sort(
    (a, b) => isMinor(a) - isMinor(b) || (a.since < b.since ? -1 : 1),
  );
}
