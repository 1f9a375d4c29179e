import { hostOf } from "../../egress/index.ts";
import { after } from "../../lib/clock.ts";
import { type Fault, noSuch, requireNoFaults } from "../../lib/errors.ts";
import { publicId, type SubscriptionId } from "../../lib/ids.ts";
import { readBoolean, readChoice, readId, readTime, refuseEmpty } from "../deliveries/query.ts";
import type { Dependencies } from "../dependencies.ts";
import { getOrganization } from "../organizations/work.ts";
import { findStanding } from "../subscriptions/sql.ts";
import {
  type Counter,
  type Latency,
  type LatencyHistogram,
  latencyOf,
  mergeHistograms,
  MINUTE_MS,
  periodAt,
  POINTS_MAX,
  SERVICE_SCOPE,
  type Step,
  STEPS_MS,
} from "./rules.ts";
import {
  type ActivityPoint,
  listActivity,
  type NearLimit,
  type RankedSubscription,
} from "./sql.ts";

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
function viewActivity(
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

function histogramOf(counts: Record<string, number>): LatencyHistogram {
  return new Map(Object.entries(counts).map(([bucket, count]) => [Number(bucket), count]));
}

/** Returns the share of successes to four decimals. Null if nothing was attempted. */
export function shareOf(succeeded: number, failed: number): number | null {
  const attempts = succeeded + failed;
  return attempts === 0 ? null : Math.round((10_000 * succeeded) / attempts) / 10_000;
}

/** A filter of activity, as an operator writes it. Without an organization or a subscription: the service's. */
interface ActivityQuery {
  organization?: string | undefined;
  subscription?: string | undefined;
  /** Default: an hour before `until`. */
  since?: string | undefined;
  /** Default: now. */
  until?: string | undefined;
  step?: string | undefined;
  /** `true`: with the counts of latencies, with which a gateway merges the activity of several cells. */
  mergeable?: string | undefined;
}

const STEPS = Object.keys(STEPS_MS) as Step[];
const SPAN_MS = 60 * MINUTE_MS;

/** Returns one point for each step of the span, oldest first, also for steps without activity. */
export async function getActivity(
  deps: Pick<Dependencies, "db" | "clock">,
  query: ActivityQuery,
): Promise<{ items: ActivityView[] }> {
  const faults: Fault[] = [];
  const { since, until, stepMs } = readSpan(query, deps.clock(), faults);
  refuseBoth(query, faults);
  const isMergeable = readBoolean("/mergeable", query.mergeable, faults) ?? false;
  requireNoFaults(faults);

  const first = periodAt(since, stepMs);
  const scope = await findScope(deps, query);
  const points = await listActivity(deps.db, { scope, since: first, until }, stepMs);
  const byTime = new Map(points.map((point) => [point.at.getTime(), point]));
  const withRequests = query.organization !== undefined;
  const items: ActivityView[] = [];
  for (let at = first; at < until; at = after(at, stepMs)) {
    items.push(viewActivity(at, byTime.get(at.getTime()), { withRequests, isMergeable }));
  }
  return { items };
}

function readSpan(query: ActivityQuery, now: Date, faults: Fault[]) {
  const step = readChoice("/step", query.step, STEPS, faults) ?? "1m";
  const until = readTime("/until", query.until, faults) ?? now;
  const since = readTime("/since", query.since, faults) ?? after(until, -SPAN_MS);
  const stepMs = STEPS_MS[step];
  if (since > until) faults.push({ pointer: "/since", detail: "must not be later than until" });
  const points = (until.getTime() - periodAt(since, stepMs).getTime()) / stepMs;
  if (points > POINTS_MAX) {
    const detail = `must be longer, or the span must be shorter: an answer has at most ${POINTS_MAX} points`;
    faults.push({ pointer: "/step", detail });
  }
  return { since, until, stepMs };
}

function refuseBoth({ organization, subscription }: ActivityQuery, faults: Fault[]): void {
  refuseEmpty(organization, faults);
  if (organization !== undefined && subscription !== undefined) {
    faults.push({ pointer: "/subscription", detail: "must not be combined with organization" });
  }
}

async function findScope(
  deps: Pick<Dependencies, "db">,
  { organization, subscription }: ActivityQuery,
): Promise<string> {
  if (organization !== undefined) return (await getOrganization(deps, organization)).id;
  return subscription === undefined ? SERVICE_SCOPE : requireSubscription(deps, subscription);
}

/** A deleted subscription has activity, too. */
async function requireSubscription(
  { db }: Pick<Dependencies, "db">,
  name: string,
): Promise<SubscriptionId> {
  const id = readId("wh", name);
  if (id === null || !(await findStanding(db, id))) throw noSuch("subscription");
  return id;
}

/**
 * A subscription that fails often or is slow, with its numbers of the last hour. `measure`, by which it is ranked, is for
 * gateways.
 */
export type RankedView = Omit<ReturnType<typeof viewRanked>, "measure"> & { measure?: number };

/** An organization that came near its rate limit in the last hour. */
export type NearLimitView = ReturnType<typeof viewNearLimit>;

export function viewRanked(row: RankedSubscription) {
  return {
    id: publicId("wh", row.id),
    organization: { id: publicId("org", row.organizationId), slug: row.slug },
    url: row.url,
    host: hostOf(row.url),
    active: row.autoDisabledAt === null,
    consecutive_failures: row.consecutiveFailures,
    attempts: row.succeeded + row.failed,
    failed: row.failed,
    ...viewAttempts([row], { isMergeable: true }),
    measure: row.measure,
  };
}

export function viewNearLimit(row: NearLimit) {
  return {
    organization: { id: publicId("org", row.id), slug: row.slug },
    rate_limit_per_minute: row.rateLimitPerMinute,
    busiest_minute: row.busiestMinute,
    rate_limited: row.rateLimited,
  };
}
