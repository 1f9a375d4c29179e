import type { OrganizationId, SubscriptionId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { DueSubscription } from "../../queue/rules.ts";
import type { Foundations } from "../dependencies.ts";
import { encodeNotice, type Notice } from "../event-types/rules.ts";
import { findOrganization, findOrganizations } from "../organizations/sql.ts";
import { publish } from "./publish.ts";

/** A published notice. */
export interface PublishedNotice {
  /** The platform's. */
  organizationId: OrganizationId;
  subscriptionIds: SubscriptionId[];
}

/** Returns the subscriptions that have something due. */
export function dueOf(notices: readonly PublishedNotice[]): DueSubscription[] {
  const owners = new Map(
    notices.flatMap(({ organizationId, subscriptionIds }) =>
      subscriptionIds.map((id) => [id, organizationId] as const),
    ),
  );
  return [...owners].map(([subscriptionId, organizationId]) => ({
    subscriptionId,
    organizationId,
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
): Promise<PublishedNotice[]> {
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
  return published.map(({ subscriptionIds }) => ({
    organizationId: platform.id,
    subscriptionIds,
  }));
}

async function slugsOf(tx: Queryable, ids: OrganizationId[]): Promise<Map<OrganizationId, string>> {
  const names = [...new Set(ids)].map((id) => ({ id, slug: null }));
  const rows = await findOrganizations(tx, names, { withClosed: true });
  return new Map(rows.flatMap((row) => (row ? [[row.id, row.slug] as const] : [])));
}
