import { after } from "../../lib/clock.ts";
import { noSuch } from "../../lib/errors.ts";
import type { OrganizationId, SubscriptionId } from "../../lib/ids.ts";
import { countBacklog, findNextDueOf, listRecentAttempts } from "../deliveries/sql.ts";
import type { Dependencies } from "../dependencies.ts";
import { getOrganization, type OrganizationView, viewOrganization } from "../organizations/work.ts";
import type { Keeping } from "../subscriptions/rules.ts";
import { countSubscriptions, findOperatedSubscription } from "../subscriptions/sql.ts";
import { type OperatedSubscriptionView, viewOperatedSubscription } from "../subscriptions/work.ts";
import { MINUTE_MS } from "./rules.ts";
import { listActivity } from "./sql.ts";
import { viewAttempts } from "./work.ts";

/** The health of a subscription, or of an organization's subscriptions together. */
export type HealthView = Awaited<ReturnType<typeof healthOf>>;

type Owner =
  { kind: "organization"; id: OrganizationId } | { kind: "subscription"; id: SubscriptionId };
type Deps = Pick<Dependencies, "db" | "clock">;

const RECENT_MAX = 100;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Takes `org_<uuid>` or a slug. */
export async function getOrganizationHealth(
  deps: Deps,
  name: string,
): Promise<OrganizationView & { subscriptions: number; health: HealthView }> {
  const row = await getOrganization(deps, name);
  const [subscriptions, health] = await Promise.all([
    countSubscriptions(deps.db, row.id),
    healthOf(deps, { kind: "organization", id: row.id }),
  ]);
  return { ...viewOrganization(row), subscriptions, health };
}

export async function getSubscriptionHealth(
  deps: Deps & Keeping,
  id: SubscriptionId | null,
): Promise<OperatedSubscriptionView & { health: HealthView }> {
  const row = id === null ? null : await findOperatedSubscription(deps.db, id);
  if (!row) throw noSuch("subscription");
  return {
    ...viewOperatedSubscription(row, deps),
    health: await healthOf(deps, { kind: "subscription", id: row.id }),
  };
}

async function healthOf({ db, clock }: Deps, owner: Owner) {
  const now = clock();
  const span = { scope: owner.id, since: after(now, -DAY_MS), until: after(now, MINUTE_MS) };
  const [points, recent, waiting, nextDue] = await Promise.all([
    listActivity(db, span, HOUR_MS),
    listRecentAttempts(db, owner, RECENT_MAX),
    countBacklog(db, owner, now),
    findNextDueOf(db, owner, now),
  ]);
  return {
    ...viewAttempts(points),
    recent: recent.toReversed().map(({ attemptedAt, httpStatus, reason, durationMs }) => ({
      at: attemptedAt.toISOString(),
      http_status: httpStatus,
      reason,
      duration_ms: durationMs,
    })),
    waiting,
    next_due_at: nextDue?.toISOString() ?? null,
  };
}
