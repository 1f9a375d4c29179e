import {
  MINUTE_MS,
  periodAt,
  POINTS_MAX,
  SERVICE_SCOPE,
  type Step,
  STEPS_MS,
} from "../domain/activity.ts";
import { after } from "../domain/clock.ts";
import { type Fault, requireNoFaults, noSuch } from "../domain/errors.ts";
import type { SubscriptionId } from "../domain/ids.ts";
import { listActivity } from "../postgres/activity.ts";
import { findStanding } from "../postgres/subscriptions.ts";
import type { Dependencies } from "./dependencies.ts";
import { getOrganization } from "./organizations.ts";
import { readBoolean, readChoice, readId, readTime, refuseEmpty } from "./queries.ts";
import { type ActivityView, viewActivity } from "./views/activity.ts";

/** A filter of activity, as an operator writes it. Without an organization or a subscription: the service's. */
export interface ActivityQuery {
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
