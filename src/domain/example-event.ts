import { encodeEnvelope } from "./event.ts";

/** The time, ids and secret of examples in the documentation. */
export const EXAMPLE = {
  eventId: "019bd1f1-0a00-7000-9b1c-5d6e7f809a1b",
  subscriptionId: "0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
  time: new Date("2026-01-31T09:30:00.000Z"),
  signingSecret: `whsec_${"A".repeat(44)}`,
};

/** The body of a delivery with this example of `data`. */
export function exampleBody(type: string, data: object): Buffer {
  const event = {
    id: EXAMPLE.eventId,
    type,
    occurredAt: EXAMPLE.time,
    data: JSON.stringify(data),
  };
  return encodeEnvelope(event, EXAMPLE.subscriptionId);
}
