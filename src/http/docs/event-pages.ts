import type { EventType, EventTypes } from "../../domain/event-types.ts";
import { EXAMPLE } from "../../domain/example-event.ts";
import { fieldsOf } from "./event-fields.ts";
import { eventMarkdown, linkList, listMarkdown, sentence } from "./event-markdown.ts";
import { EVENT_TEMPLATE } from "./event-template.ts";
import { envelope, exampleRequest } from "./example-request.ts";
import { codeBlock, escapeHtml, heading, highlightJson, span, table } from "./markup.ts";

const PAGE = "/docs/events";

/** Fills the event types of this service into a built page. */
export type Fill = (path: string, written: string) => Promise<string>;

/** Fills in the list of types, and adds each type to the search index and to llms.txt. Without types of a platform it adds nothing. */
export function createFill(types: EventTypes): Fill {
  const hasOwn = types.names.length > 1;
  return async (path, written) => {
    if (path === PAGE)
      return written.replace(EVENT_TEMPLATE.list, () => (hasOwn ? list(types) : ""));
    if (path === `${PAGE}.md`)
      return written.replace(EVENT_TEMPLATE.list, () => (hasOwn ? listMarkdown(types) : ""));
    if (hasOwn && path === "/docs/llms.txt") return `${written}\n\n${linkList(types)}\n`;
    if (hasOwn && path.startsWith("/docs/assets/search.")) return extendIndex(written, types);
    const type = typeAt(path, types);
    return type ? fillPage(written, type, types) : written;
  };
}

/** Returns the path of the built page. For the page of a type it is the template. */
export function builtPath(path: string, types: EventTypes): string {
  return typeAt(path, types) ? EVENT_TEMPLATE.path : path;
}

/** Returns the page of a type in Markdown. Null for every other path. */
export function markdownAt(path: string, types: EventTypes): string | null {
  if (!path.endsWith(".md")) return null;
  const type = typeAt(path.slice(0, -".md".length), types);
  return type ? eventMarkdown(type, types) : null;
}

/** Types have pages if there are several. */
function typeAt(path: string, types: EventTypes): EventType | undefined {
  if (types.names.length === 1 || !path.startsWith(`${PAGE}/`)) return undefined;
  return types.find(path.slice(PAGE.length + 1));
}

function list(types: EventTypes): string {
  const rows = [...types].map(({ name, summary }) => [
    `<a href="${PAGE}/${name}"><code>${name}</code></a>`,
    escapeHtml(summary),
  ]);
  return heading("All event types") + table(["type", "meaning"], rows);
}

async function fillPage(written: string, type: EventType, types: EventTypes): Promise<string> {
  const content = [
    await toHtml(type.description ?? ""),
    heading("Data"),
    fieldTable(type, types),
    heading("Example"),
    `<p>A delivery's body is the <a href="/docs/deliveries#what-arrives">envelope</a> with the data in it.</p>\n`,
    codeBlock("json", highlightJson(envelope(type))),
    heading("Request"),
    `<p>This request is signed with the secret <code>${EXAMPLE.signingSecret}</code>. <a href="/docs/verifying">Verify it</a> before you trust it.</p>\n`,
    codeBlock("http", request(type)),
  ].join("");
  return written
    .replaceAll(`${EVENT_TEMPLATE.path}.md`, () => `${PAGE}/${type.name}.md`)
    .replaceAll(EVENT_TEMPLATE.title, () => escapeHtml(type.name))
    .replaceAll(EVENT_TEMPLATE.summary, () => escapeHtml(sentence(type.summary)))
    .replace(EVENT_TEMPLATE.content, () => content)
    .replace(`<a href="${PAGE}">`, `<a href="${PAGE}" aria-current="true">`);
}

function fieldTable(type: EventType, types: EventTypes): string {
  const fields = fieldsOf(type, types);
  if (fields.length === 0) return "<p>The schema lists no members.</p>\n";
  const rows = fields.map(({ name, type, required, description }) => [
    `<code>${escapeHtml(name)}</code>`,
    escapeHtml(type) + (required ? ", required" : ""),
    inlineCode(description),
  ]);
  return table(["name", "type", "meaning"], rows);
}

function inlineCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function request(type: EventType): string {
  const { headers, body } = exampleRequest(type);
  const lines = Object.entries(headers).map(
    ([key, value]) => `${span("attribute", key)}: ${escapeHtml(value)}`,
  );
  return [
    `${span("keyword", "POST")} ${span("string", "/hooks")} ${span("meta", "HTTP/1.1")}`,
    ...lines,
    "",
    highlightJson(body),
  ].join("\n");
}

/** Renders the platform's Markdown, without raw HTML. The library is loaded when a page is first read. */
async function toHtml(markdown: string): Promise<string> {
  if (markdown === "") return "";
  const { Marked } = await import("marked");
  const renderer = {
    html: ({ text }: { text: string }) => escapeHtml(text),
    image: ({ text }: { text: string }) => escapeHtml(text),
  };
  const walkTokens = (token: { type: string; href?: string; depth?: number }) => {
    if (token.type === "link" && !/^(https?:|mailto:|\/|#)/i.test(token.href ?? ""))
      token.href = "#";
    if (token.type === "heading") token.depth = Math.max(2, token.depth ?? 2);
  };
  return new Marked({ renderer, walkTokens }).parse(markdown, { async: false });
}

function extendIndex(written: string, types: EventTypes): string {
  const sections = [...types].map((type) => ({
    href: `/events/${type.name}`,
    page: "Events",
    title: type.name,
    text: [
      sentence(type.summary),
      type.description ?? "",
      ...fieldsOf(type, types).map(({ name, description }) => `${name} ${description}`),
    ].join(" "),
  }));
  return JSON.stringify([...(JSON.parse(written) as unknown[]), ...sections]);
}
