import { type DeliveryId, type OrganizationId, publicId, type SubscriptionId } from "./ids.ts";

/** Types of events that tell the platform of its partners. Only the platform's own organization can subscribe to them. */
export const NOTICE_TYPES = [
  "vc.subscription.disabled",
  "vc.delivery.dead_lettered",
  "vc.organization.limited",
] as const;

/** Something that the platform is told of. */
export interface Notice {
  type: (typeof NOTICE_TYPES)[number];
  organizationId: OrganizationId;
  subscriptionId: SubscriptionId | null;
  deliveryId: DeliveryId | null;
  reason: string;
  at: Date;
}

/** The `data` of the event, as JSON text. */
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

/** How long an organization that is told of as limited is not told of again. */
export const LIMITED_PAUSE_MS = 60_000;
