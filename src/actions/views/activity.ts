import { type Latency, type LatencyHistogram, latencyOf } from "../../domain/latency-histogram.ts";
import type { ActivityPoint } from "../../postgres/activity.ts";

/** The activity of one period. */
export interface ActivityView {
  at: string;
  /** The events of an organization or of the service, or the deliveries of a subscription. */
  published: number;
  attempts: number;
  succeeded: number;
  failed: number;
  by_reason: Record<string, number>;
  attempt_ms: Latency;
  end_to_end_ms: Latency;
  /** Only of an organization. */
  requests?: number;
  rate_limited?: number;
}

/** `point` is null if nothing happened. */
export function viewActivity(
  at: Date,
  point: ActivityPoint | null,
  { withRequests }: { withRequests: boolean },
): ActivityView {
  const { published = 0, succeeded = 0, failed = 0, requests = 0, rate_limited = 0 } = point ?? {};
  return {
    at: at.toISOString(),
    published,
    attempts: succeeded + failed,
    succeeded,
    failed,
    by_reason: point?.reasons ?? {},
    attempt_ms: latencyOf(histogramOf(point?.attempt_ms ?? {})),
    end_to_end_ms: latencyOf(histogramOf(point?.end_to_end_ms ?? {})),
    ...(withRequests ? { requests, rate_limited } : {}),
  };
}

export function histogramOf(counts: Record<string, number>): LatencyHistogram {
  return new Map(Object.entries(counts).map(([bucket, count]) => [Number(bucket), count]));
}

/** Returns the share of successes to four decimals. Null if nothing was attempted. */
export function shareOf(succeeded: number, failed: number): number | null {
  const attempts = succeeded + failed;
  return attempts === 0 ? null : Math.round((10_000 * succeeded) / attempts) / 10_000;
}
