import { OWN_EVENT_TYPES } from "./event-types.ts";
import { type EventId, type OrganizationId, type SubscriptionId, publicId } from "./ids.ts";

export const TEST_EVENT = "vc.test.ping" satisfies keyof typeof OWN_EVENT_TYPES;
export const TEST_EVENT_DATA = JSON.stringify(OWN_EVENT_TYPES[TEST_EVENT].example);

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

/** The fields of an envelope. `data` is JSON text, so that its bytes never change. */
export interface EventRecord {
  id: EventId;
  type: string;
  occurredAt: Date;
  data: string;
}

/** The JSON body of a delivery. Every attempt sends the same bytes. */
export function encodeEnvelope(event: EventRecord, subscriptionId: SubscriptionId): Buffer {
  return Buffer.from(
    `{"event":${JSON.stringify(event.type)}` +
      `,"id":"${publicId("evt", event.id)}"` +
      `,"subscription_id":"${publicId("wh", subscriptionId)}"` +
      `,"occurred_at":"${event.occurredAt.toISOString()}"` +
      `,"data":${event.data}}`,
  );
}
