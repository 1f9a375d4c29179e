import { type Schema, SchemaIndex } from "../../event-types/schema-index.ts";
import { publicId } from "../../lib/ids.ts";
import { isObject } from "../../lib/objects.ts";
import type { EventType, EventTypes } from "../../subjects/event-types/rules.ts";
import { EXAMPLE, exampleBody } from "../../subjects/events/rules.ts";
import { signatureHeaders } from "../../webhook/sign.ts";
import {
  codeBlock,
  DOCS_BASE_URL,
  escapeHtml,
  heading,
  highlightJson,
  span,
  table,
} from "./site.ts";

/** A member of an event's data. Nested members have names like `lines[].sku`. */
interface Field {
  name: string;
  type: string;
  required: boolean;
  description: string;
}

const FIELDS_MAX = 500;
const DEPTH_MAX = 8;

/** An object whose members are listed. `around` are the schemas that it is in. */
interface Level {
  schema: Schema;
  prefix: string;
  around: readonly Schema[];
}

const indexes = new WeakMap<EventTypes, SchemaIndex>();

/**
 * Returns the members of a type's data that its schema lists by name: those of the top level first, then those within them, level by
 * level. What is within itself is listed once.
 */
export function fieldsOf({ schema }: EventType, types: EventTypes): Field[] {
  const index = indexes.get(types) ?? new SchemaIndex(types);
  indexes.set(types, index);
  const fields = new Map<string, Field>();
  let levels: Level[] = [{ schema: schema as Schema, prefix: "", around: [] }];
  for (let depth = 0; depth < DEPTH_MAX && levels.length > 0; depth++) {
    levels = levels.flatMap((one) => [...list(one)]);
  }
  return [...fields.values()];

  /** Adds the members of an object. Returns the objects within it. */
  function* list({ schema, prefix, around }: Level): Generator<Level> {
    const parts = [...partsOfObject(schema, index, around)];
    const certain = parts.filter(({ isCertain }) => isCertain);
    const required = new Set(certain.flatMap(({ part }) => listOf(part["required"]).map(String)));
    const unnamed = Object.fromEntries([...required].map((member) => [member, {}]));
    for (const { part, path } of [...parts, { part: { properties: unnamed }, path: around }]) {
      for (const [member, value] of Object.entries(objectOf(part.properties))) {
        const name = prefix + member;
        if (fields.has(name) || fields.size >= FIELDS_MAX) continue;
        const own = resolve(objectOf(value), index);
        fields.set(name, {
          name,
          type: typeOf(own, index),
          required: required.has(member),
          description: remarksOf(own),
        });
        yield { schema: objectOf(value), prefix: `${name}.`, around: path };
        for (const item of [own["items"], ...listOf(own["prefixItems"])])
          yield { schema: objectOf(item), prefix: `${name}[].`, around: path };
        yield { schema: objectOf(own["additionalProperties"]), prefix: `${name}.*.`, around: path };
      }
    }
  }
}

/** A schema that applies to the same object, and whether it always does. */
interface Part {
  part: Schema;
  isCertain: boolean;
  path: readonly Schema[];
}

/** The schema, what it refers to, the parts of `allOf`, and those that may apply. Leaves out those in `around`. */
function* partsOfObject(
  schema: Schema,
  index: SchemaIndex,
  around: readonly Schema[],
  isCertain = true,
): Generator<Part> {
  if (around.includes(schema)) return;
  const path = [...around, schema];
  yield { part: schema, isCertain, path };
  const { $ref, allOf, anyOf, oneOf, then, else: otherwise, dependentSchemas } = schema;
  const target = typeof $ref === "string" ? index.resolve($ref, schema) : undefined;
  if (isObject(target)) yield* partsOfObject(target, index, path, isCertain);
  for (const one of listOf(allOf)) yield* partsOfObject(objectOf(one), index, path, isCertain);
  const dependent = Object.values(objectOf(dependentSchemas));
  const perhaps = [...listOf(anyOf), ...listOf(oneOf), then, otherwise, ...dependent];
  for (const one of perhaps.filter(isObject)) yield* partsOfObject(one, index, path, false);
}

/**
 * Returns the schema merged with what it says elsewhere: the target of its `$ref`, its only part of `allOf`, or its only
 * alternative to null. Its own keywords take precedence.
 */
function resolve(schema: Schema, index: SchemaIndex, hops = DEPTH_MAX): Schema {
  const { $ref, allOf, anyOf, oneOf } = schema;
  const target = typeof $ref === "string" ? index.resolve($ref, schema) : undefined;
  const either = [...listOf(anyOf), ...listOf(oneOf)].map(objectOf);
  const others = either.filter(({ type }) => type !== "null");
  const [only] = isObject(target) ? [target] : listOf(allOf).length === 1 ? listOf(allOf) : [];
  const [other] = others.length === 1 && others.length < either.length ? others : [];
  if (hops === 0 || !(only ?? other)) return schema;
  const whole = resolve(objectOf(only ?? other), index, hops - 1);
  const isNullable = only === undefined && whole["type"] !== undefined;
  return { ...whole, ...schema, ...(isNullable && { type: [whole["type"], "null"].flat() }) };
}

function typeOf(schema: Schema, index: SchemaIndex, depth = 0): string {
  const { type, items, format, enum: values } = schema;
  const names = [type ?? []].flat().map(String);
  if (names.length === 0 && (values !== undefined || "const" in schema)) return "constant";
  if (names.length === 0) return eitherOf(schema, index, depth);
  const text = names.map((name) => {
    if (name !== "array" || items === undefined || depth >= DEPTH_MAX) return name;
    return `array of ${typeOf(resolve(objectOf(items), index), index, depth + 1)}`;
  });
  return text.join(" or ") + (typeof format === "string" ? ` (${format})` : "");
}

/** The types of all alternatives. */
function eitherOf({ anyOf, oneOf }: Schema, index: SchemaIndex, depth: number): string {
  const either = [...listOf(anyOf), ...listOf(oneOf)].map((one) => resolve(objectOf(one), index));
  const types = either.map((one) => (depth < DEPTH_MAX ? typeOf(one, index, depth + 1) : "any"));
  return types.length === 0 || types.includes("any") ? "any" : [...new Set(types)].join(" or ");
}

function remarksOf(schema: Schema): string {
  const { description, enum: values, minimum, maximum, minLength, maxLength, pattern } = schema;
  const code = (value: unknown) =>
    `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
  const remarks = [
    typeof description === "string" ? description : "",
    Array.isArray(values) ? `One of ${values.map(code).join(", ")}.` : "",
    "const" in schema ? `Always ${code(schema["const"])}.` : "",
    minimum === undefined ? "" : `At least ${code(minimum)}.`,
    maximum === undefined ? "" : `At most ${code(maximum)}.`,
    minLength === undefined ? "" : `At least ${code(minLength)} characters.`,
    maxLength === undefined ? "" : `At most ${code(maxLength)} characters.`,
    pattern === undefined ? "" : `Matches ${code(pattern)}.`,
  ];
  return remarks.filter((remark) => remark !== "").join(" ");
}

function objectOf(value: unknown): Schema {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the body of an example delivery, indented. */
function envelope({ name, example }: EventType): string {
  return JSON.stringify(JSON.parse(exampleBody(name, example).toString("utf8")), null, 2);
}

/** Returns the headers and the body of an example delivery, with a valid signature. */
export function exampleRequest({ name, example }: EventType): {
  headers: Record<string, string>;
  body: string;
} {
  const body = exampleBody(name, example);
  const headers = {
    Host: "partner.example",
    "Content-Type": "application/json",
    ...signatureHeaders({
      signingSecret: EXAMPLE.signingSecret,
      eventId: publicId("evt", EXAMPLE.eventId),
      timestampMs: EXAMPLE.time.getTime() + 123,
      body,
    }),
    "X-VC-Attempt": "1",
  };
  return { headers, body: body.toString("utf8") };
}

/** Returns the list of all event types in Markdown, for the page of events. */
function listMarkdown(types: EventTypes): string {
  const rows = [...types].map(({ name, summary }) => `| ${link(name)} | ${cell(summary)} |`);
  return ["## All event types", "", "| type | meaning |", "|---|---|", ...rows].join("\n");
}

/** Returns the links to all event types, for llms.txt. */
function linkList(types: EventTypes): string {
  const links = [...types].map(({ name, summary }) => `- ${link(name)}: ${sentence(summary)}`);
  return ["## Event types", "", ...links].join("\n");
}

function link(name: string): string {
  return `[${name}](${DOCS_BASE_URL}/docs/events/${name}.md)`;
}

/** Returns the page of an event type in Markdown. */
function eventMarkdown(type: EventType, types: EventTypes): string {
  const { headers, body } = exampleRequest(type);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const request = ["POST /hooks HTTP/1.1", ...lines, "", body].join("\n");
  return [
    `# ${type.name}`,
    sentence(type.summary),
    ...(type.description ? [type.description] : []),
    "## Data",
    fieldTableMarkdown(type, types),
    "## Example",
    fence("json", envelope(type)),
    "## Request",
    `This request is signed with the secret \`${EXAMPLE.signingSecret}\`.`,
    fence("http", request),
  ].join("\n\n");
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function fieldTableMarkdown(type: EventType, types: EventTypes): string {
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

/** The placeholders for event types, which only a running service knows. */
export const EVENT_TEMPLATE = {
  /** The template page, which is served only under the names of types. */
  path: "/docs/event-type",
  title: "event-type-title",
  summary: "event-type-summary",
  content: "<!-- event-type-content -->",
  /** On the page that lists the types. */
  list: "<!-- event-types -->",
};

const PAGE = "/docs/events";

/** Fills the event types of this service into a built page. */
type Fill = (path: string, written: string) => Promise<string>;

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
