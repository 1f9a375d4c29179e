import { OWN_EVENT_TYPES } from "./event-types.ts";
import { type EventId, type SubscriptionId, publicId } from "./ids.ts";

export const TEST_EVENT = "vc.test.ping" satisfies keyof typeof OWN_EVENT_TYPES;
export const TEST_EVENT_DATA = JSON.stringify(OWN_EVENT_TYPES[TEST_EVENT].example);

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
