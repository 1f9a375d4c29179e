import { after } from "../domain/clock.ts";
import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import { encodeNotice, LIMITED_PAUSE_MS, type Notice } from "../domain/notices.ts";
import type { Queryable } from "../postgres/database.ts";
import { takeLimitNotices } from "../postgres/limit-notices.ts";
import { findOrganization, findOrganizations } from "../postgres/organizations.ts";
import { countTold } from "./counted-activity.ts";
import type { Dependencies, Foundations } from "./dependencies.ts";
import { publish } from "./publish.ts";
import type { DueSubscription } from "./reservation.ts";

/** A published notice. */
export interface Told {
  /** The platform's. */
  organization_id: OrganizationId;
  subscription_ids: SubscriptionId[];
}

/** Returns the subscriptions that have something due. */
export function dueOf(told: readonly Told[]): DueSubscription[] {
  const owners = new Map(
    told.flatMap(({ organization_id, subscription_ids }) =>
      subscription_ids.map((id) => [id, organization_id] as const),
    ),
  );
  return [...owners].map(([subscription_id, organization_id]) => ({
    subscription_id,
    organization_id,
  }));
}

/**
 * Publishes notices to the platform's organization, if there is one, in the caller's transaction. Returns those that it
 * published. Notices about that organization itself are omitted, so that a failed notice causes no other.
 */
export async function publishNotices(
  { clock, platformOrganization: slug }: Pick<Foundations, "clock" | "platformOrganization">,
  tx: Queryable,
  notices: readonly Notice[],
): Promise<Told[]> {
  if (!slug || notices.length === 0) return [];
  const platform = await findOrganization(tx, { slug });
  if (!platform) return [];

  const wanted = notices.filter((notice) => notice.organizationId !== platform.id);
  if (wanted.length === 0) return [];
  const slugs = await slugsOf(
    tx,
    wanted.map((notice) => notice.organizationId),
  );
  const published = await publish(
    { clock },
    tx,
    wanted.map((notice) => ({
      organizationId: platform.id,
      type: notice.type,
      data: encodeNotice(notice, slugs.get(notice.organizationId) ?? ""),
      occurredAt: notice.at,
    })),
  );
  return published.map(({ subscriptionIds: subscription_ids }) => ({
    organization_id: platform.id,
    subscription_ids,
  }));
}

async function slugsOf(tx: Queryable, ids: OrganizationId[]): Promise<Map<OrganizationId, string>> {
  const names = [...new Set(ids)].map((id) => ({ id, slug: null }));
  const rows = await findOrganizations(tx, names, { withClosed: true });
  return new Map(rows.flatMap((row) => (row ? [[row.id, row.slug] as const] : [])));
}

/** The most organizations that wait for a notice. */
const LIMITED_MAX = 10_000;

/** Remembers in memory that an organization has used up its rate limit. */
export function noteLimited(
  { clock, platformOrganization, limited }: Dependencies,
  { organizationId, slug }: { organizationId: OrganizationId; slug: string },
): void {
  if (!platformOrganization || slug === platformOrganization) return;
  const toldAt = limited.toldAt.get(organizationId);
  const now = clock();
  if (toldAt && now < after(toldAt, LIMITED_PAUSE_MS)) return;
  if (limited.waiting.size >= LIMITED_MAX || limited.waiting.has(organizationId)) return;
  limited.waiting.set(organizationId, now);
}

/** Tells the platform of the organizations that `noteLimited` remembers, each once a minute, over all processes. */
export async function publishLimitNotices(deps: Dependencies): Promise<void> {
  const { db, clock, activity, limited, nudge } = deps;
  if (limited.waiting.size === 0) return;
  const waiting = new Map(limited.waiting);
  const told = await db.begin(async (tx) => {
    const now = clock();
    const times = { now, expired: after(now, -LIMITED_PAUSE_MS) };
    const taken = await takeLimitNotices(tx, [...waiting.keys()], times);
    const notices = taken.map((organizationId): Notice => ({
      type: "vc.organization.limited",
      organizationId,
      subscriptionId: null,
      deliveryId: null,
      reason: "rate_limited",
      at: waiting.get(organizationId) ?? now,
    }));
    return publishNotices(deps, tx, notices);
  });
  for (const [id, at] of waiting) {
    limited.toldAt.set(id, at);
    limited.waiting.delete(id);
  }
  countTold(activity, told);
  if (told.length > 0) nudge(dueOf(told));
}
