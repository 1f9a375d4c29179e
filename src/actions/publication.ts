import type { Claim } from "../domain/attempt.ts";
import type { EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { EarlyLeases } from "../postgres/events.ts";

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

/** Slots that a dispatcher reserves for deliveries while they are published. */
export interface Reservation extends Pick<EarlyLeases, "slots" | "except"> {
  /** Returns the slots and starts these attempts. Call it exactly once. */
  end: (claims: Claim[]) => void;
}

export const NO_SLOTS: Reservation = { slots: 0, except: [], end: () => undefined };

export type { DueSubscription } from "../domain/due-notice.ts";
