/** `failing`: auto-disabled ones first, then by failures in a row, most first. */
export const SUBSCRIPTION_ORDERS = ["newest", "failing"] as const;
export type SubscriptionOrder = (typeof SUBSCRIPTION_ORDERS)[number];
