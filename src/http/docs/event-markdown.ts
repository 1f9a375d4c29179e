import type { EventType, EventTypes } from "../../domain/event-types.ts";
import { EXAMPLE } from "../../domain/example-event.ts";
import { fieldsOf } from "./event-fields.ts";
import { envelope, exampleRequest } from "./example-request.ts";
import { DOCS_BASE_URL } from "./manifest.ts";

/** Returns the list of all event types in Markdown, for the page of events. */
export function listMarkdown(types: EventTypes): string {
  const rows = [...types].map(({ name, summary }) => `| ${link(name)} | ${cell(summary)} |`);
  return ["## All event types", "", "| type | meaning |", "|---|---|", ...rows].join("\n");
}

/** Returns the links to all event types, for llms.txt. */
export function linkList(types: EventTypes): string {
  const links = [...types].map(({ name, summary }) => `- ${link(name)}: ${sentence(summary)}`);
  return ["## Event types", "", ...links].join("\n");
}

function link(name: string): string {
  return `[${name}](${DOCS_BASE_URL}/docs/events/${name}.md)`;
}

/** Returns the page of an event type in Markdown. */
export function eventMarkdown(type: EventType, types: EventTypes): string {
  const { headers, body } = exampleRequest(type);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const request = ["POST /hooks HTTP/1.1", ...lines, "", body].join("\n");
  return [
    `# ${type.name}`,
    sentence(type.summary),
    ...(type.description ? [type.description] : []),
    "## Data",
    fieldTable(type, types),
    "## Example",
    fence("json", envelope(type)),
    "## Request",
    `This request is signed with the secret \`${EXAMPLE.signingSecret}\`.`,
    fence("http", request),
  ].join("\n\n");
}

export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function fieldTable(type: EventType, types: EventTypes): string {
  const rows = fieldsOf(type, types).map(
    ({ name, type, required, description }) =>
      `| \`${name}\` | ${cell(type)}${required ? ", required" : ""} | ${cell(description)} |`,
  );
  if (rows.length === 0) return "The schema lists no members.";
  return ["| name | type | meaning |", "|---|---|---|", ...rows].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}

function fence(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}
