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
