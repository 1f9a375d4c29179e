import { type DeliveryId, type OrganizationId, publicId, type SubscriptionId } from "./ids.ts";

/** Types of events that notify the platform about its partners. Only the platform's own organization can subscribe to them. */
export const NOTICE_TYPES = [
  "vc.subscription.disabled",
  "vc.delivery.dead_lettered",
  "vc.organization.limited",
] as const;

/** A notification of the platform. */
export interface Notice {
  type: (typeof NOTICE_TYPES)[number];
  organizationId: OrganizationId;
  subscriptionId: SubscriptionId | null;
  deliveryId: DeliveryId | null;
  reason: string;
  at: Date;
}

/** Returns the `data` of the event as JSON text. */
export function encodeNotice(
  { organizationId, subscriptionId, deliveryId, reason }: Notice,
  slug: string,
): string {
  return JSON.stringify({
    organization: { id: publicId("org", organizationId), slug },
    subscription: subscriptionId === null ? null : publicId("wh", subscriptionId),
    delivery: deliveryId === null ? null : publicId("dlv", deliveryId),
    reason,
  });
}

/** The shortest time between two notices that one organization is limited. */
export const LIMITED_PAUSE_MS = 60_000;
