/** Each bucket ends at this multiple of the one before. */
const GROWTH = 1.15;
const LOG_GROWTH = Math.log(GROWTH);

/** Ten days. Longer times are in the last bucket. */
const LONGEST_MS = 10 * 86_400_000;

/** How often each bucket was counted. Buckets that were not are absent. */
export type LatencyHistogram = ReadonlyMap<number, number>;

/** Half the width of a bucket, as a share of the time: what a quantile may be off. */
export const LATENCY_ERROR = Math.sqrt(GROWTH) - 1;

/** Bucket 0 holds times of up to 1 ms, bucket n those above `GROWTH ** (n - 1)` ms up to `GROWTH ** n` ms. */
export function bucketOf(ms: number): number {
  if (ms <= 1) return 0;
  return Math.ceil(Math.log(Math.min(ms, LONGEST_MS)) / LOG_GROWTH - 1e-9);
}

/** The largest bucket. */
export const BUCKET_MAX = bucketOf(LONGEST_MS);

/** What the histograms counted together. Merging loses nothing: all have the same buckets. */
export function mergeHistograms(histograms: Iterable<LatencyHistogram>): LatencyHistogram {
  const merged = new Map<number, number>();
  for (const histogram of histograms) {
    for (const [bucket, count] of histogram) merged.set(bucket, (merged.get(bucket) ?? 0) + count);
  }
  return merged;
}

/** The time that a share of `q` took at most, in whole ms: the middle of its bucket. Null if nothing was counted. */
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

/** The median, and the time that one in a hundred exceeds. */
export interface Latency {
  p50: number | null;
  p99: number | null;
}

export function latencyOf(histogram: LatencyHistogram): Latency {
  return { p50: quantileMs(histogram, 0.5), p99: quantileMs(histogram, 0.99) };
}

/** As far from either end in proportion. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 1 : Math.round(GROWTH ** (bucket - 0.5));
}
