import type { EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";

/** An event to publish. */
export interface NewEvent {
  organizationId: OrganizationId;
  type: string;
  /** JSON text without control characters. */
  data: string;
  /** Default: the time of publishing. */
  occurredAt?: Date;
  /** Default: every active subscription of the organization that lists the type. */
  subscriptionId?: SubscriptionId;
  /** A second event of the organization with this key within 24 hours is a duplicate. */
  dedupeKey?: string;
  /** The id of the request that publishes it. */
  requestId?: string;
  /** The span that publishes it. */
  traceparent?: string;
}

export interface Published {
  /** The id of the event. For a duplicate: of the first event. */
  eventId: EventId;
  /** True if nothing was written, because another event has the dedupe key. */
  isDuplicate: boolean;
  /** The subscriptions that get the event, with one delivery each. */
  subscriptionIds: SubscriptionId[];
}
