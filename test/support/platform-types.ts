import {
  createEventTypes,
  type EventType,
  type EventTypes,
} from "../../src/subjects/event-types/rules.ts";

/** A platform's type whose `data` must hold a number `amount`. */
export const ORDER_CREATED: EventType = {
  name: "order.created",
  summary: "An order was placed",
  schema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  example: { amount: 1999 },
  faultsOf: (data) =>
    typeof (data as { amount?: unknown }).amount === "number"
      ? []
      : [{ pointer: "/amount", detail: "must be a number" }],
};

/** A type that accepts all data. */
export const NOTE_ADDED: EventType = {
  name: "note.added",
  summary: "A note was added",
  schema: { type: "object" },
  example: {},
  faultsOf: () => [],
};

/** The service's own types and two of a platform. */
export function aPlatformsTypes(): EventTypes {
  return createEventTypes([ORDER_CREATED, NOTE_ADDED]);
}
