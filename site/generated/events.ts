import { OWN_EVENT_TYPES } from "../../src/subjects/event-types/rules.ts";
import { exampleBody } from "../../src/subjects/events/rules.ts";

/** Lists the service's own event types with an example envelope. */
export function events(): string {
  return Object.entries(OWN_EVENT_TYPES)
    .map(([type, { summary, example }]) =>
      [
        `## \`${type}\``,
        `${summary}.`,
        "```json",
        JSON.stringify(JSON.parse(exampleBody(type, example).toString("utf8")), null, 2),
        "```",
      ].join("\n"),
    )
    .join("\n\n");
}
