import { encodeEnvelope } from "../../src/domain/event.ts";
import { OWN_EVENT_TYPES } from "../../src/domain/event-types.ts";

const EXAMPLE_EVENT = "019bd1f1-0a00-7000-9b1c-5d6e7f809a1b";
const EXAMPLE_SUBSCRIPTION = "0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11";
const EXAMPLE_TIME = new Date("2026-01-31T09:30:00.000Z");

/** Lists every event type with an example envelope. */
export function events(): string {
  return Object.entries(OWN_EVENT_TYPES)
    .map(([type, { summary, example }]) =>
      [
        `## \`${type}\``,
        `${summary}.`,
        "```json",
        JSON.stringify(envelope(type, example), null, 2),
        "```",
      ].join("\n"),
    )
    .join("\n\n");
}

function envelope(type: string, data: object): unknown {
  const event = {
    id: EXAMPLE_EVENT,
    type,
    occurredAt: EXAMPLE_TIME,
    data: JSON.stringify(data),
  };
  return JSON.parse(encodeEnvelope(event, EXAMPLE_SUBSCRIPTION).toString("utf8"));
}
