import { type EventId, type SubscriptionId, publicId } from "./ids.ts";

/** All event types. A new resource family adds its own here, with an example of its `data`. */
export const EVENT_TYPES = {
  "vc.test.ping": {
    summary: "A test event, sent on request",
    example: { message: "integration test" },
  },
} as const satisfies Record<string, { summary: string; example: Record<string, unknown> }>;

export type EventType = keyof typeof EVENT_TYPES;

export const TEST_EVENT = "vc.test.ping" satisfies EventType;
export const TEST_EVENT_DATA = JSON.stringify(EVENT_TYPES[TEST_EVENT].example);

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
