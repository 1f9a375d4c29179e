import { after } from "../../lib/clock.ts";
import type { OrganizationId } from "../../lib/ids.ts";
import { countNotices } from "../activity/counted.ts";
import type { Dependencies } from "../dependencies.ts";
import { LIMITED_PAUSE_MS, type Notice } from "../event-types/rules.ts";
import { dueOf, publishNotices } from "./notices.ts";
import { takeLimitNotices } from "./sql.ts";

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
  const published = await db.begin(async (tx) => {
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
  countNotices(activity, published);
  if (published.length > 0) nudge(dueOf(published));
}
