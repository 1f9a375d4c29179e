import type { Counter } from "../../domain/activity.ts";
import {
  type Latency,
  type LatencyHistogram,
  latencyOf,
  mergeHistograms,
} from "../../domain/latency-histogram.ts";
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

/** `point`: the counts of the period, if there are any. */
export function viewActivity(
  at: Date,
  point: ActivityPoint | undefined,
  { withRequests, isMergeable }: { withRequests: boolean; isMergeable: boolean },
): ActivityView {
  const points = point ? [point] : [];
  const sum = (name: Counter) => point?.[name] ?? 0;
  const [succeeded, failed] = [sum("succeeded"), sum("failed")];
  return {
    at: at.toISOString(),
    published: sum("published"),
    attempts: succeeded + failed,
    succeeded,
    failed,
    by_reason: point?.reasons ?? {},
    attempt_ms: latencyIn(points, "attemptMs", isMergeable),
    end_to_end_ms: latencyIn(points, "endToEndMs", isMergeable),
    ...(withRequests ? { requests: sum("requests"), rate_limited: sum("rate_limited") } : {}),
  };
}

type Counts = readonly Pick<ActivityPoint, "succeeded" | "failed" | "attemptMs">[];

/** The results of the attempts in these periods. The share is null if there are none. */
export function viewAttempts(
  points: Counts,
  { isMergeable = false } = {},
): {
  success_share: number | null;
  attempt_ms: Latency;
} {
  return {
    success_share: shareOf(sumOf(points, "succeeded"), sumOf(points, "failed")),
    attempt_ms: latencyIn(points, "attemptMs", isMergeable),
  };
}

export function sumOf<Name extends string>(
  points: readonly Record<Name, number>[],
  name: Name,
): number {
  return points.reduce((total, point) => total + point[name], 0);
}

function latencyIn<Name extends string>(
  points: readonly Record<Name, Record<string, number>>[],
  name: Name,
  isMergeable: boolean,
): Latency {
  const histogram = mergeHistograms(points.map((point) => histogramOf(point[name])));
  const latency = latencyOf(histogram);
  return isMergeable ? { ...latency, buckets: Object.fromEntries(histogram) } : latency;
}

export function histogramOf(counts: Record<string, number>): LatencyHistogram {
  return new Map(Object.entries(counts).map(([bucket, count]) => [Number(bucket), count]));
}

/** Returns the share of successes to four decimals. Null if nothing was attempted. */
export function shareOf(succeeded: number, failed: number): number | null {
  const attempts = succeeded + failed;
  return attempts === 0 ? null : Math.round((10_000 * succeeded) / attempts) / 10_000;
}
