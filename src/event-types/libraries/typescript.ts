import { Scope } from "./names.ts";
import type { Member, ObjectShape, Shape, TypedEvent } from "./shape.ts";

const RESERVED = [
  ...["EventData", "EventType", "NewEvent", "Published", "PublishError", "Publisher"],
  ...[
    "PublisherOptions",
    "Error",
    "Promise",
    "ReadonlyArray",
    "Record",
    "Required",
    "Response",
    "RequestInit",
  ],
  ...["AbortSignal", "JSON", "Math", "Number", "String", "TypeError"],
];

/** Returns the types of the data in TypeScript. */
export function typescriptTypes(events: readonly TypedEvent[]): string {
  const scope = new Scope(RESERVED);
  const lines = events.map(
    ({ name, summary, shape }) =>
      `  /** ${comment(summary)} */\n  ${JSON.stringify(name)}: ${typeOf(shape, "  ", scope)};`,
  );
  return [...scope.types, `export interface EventData {\n${lines.join("\n")}\n}`].join("\n\n");
}

function typeOf(shape: Shape, indent: string, scope: Scope): string {
  switch (shape.kind) {
    case "any":
      return "unknown";
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return shape.kind;
    case "literals":
      return shape.values.map((value) => JSON.stringify(value)).join(" | ") || "never";
    case "array":
      return listOf(typeOf(shape.items, indent, scope));
    case "map":
      return `{ readonly [name: string]: ${typeOf(shape.values, indent, scope)} }`;
    case "union":
      return shape.of.map((one) => typeOf(one, indent, scope)).join(" | ");
    case "object":
      return objectOf(shape, indent, scope);
    case "named":
      return scope.nameOf(shape.type, (name) => {
        scope.types.push(`export type ${name} = ${typeOf(shape.type.shape, "", scope)};`);
      });
  }
}

/** What is known of further members might contradict the types of the others. */
function objectOf({ members, further }: ObjectShape, indent: string, scope: Scope): string {
  const lines = members.map((one) => member(one, `${indent}  `, scope));
  if (further) lines.push(`${indent}  readonly [name: string]: unknown;`);
  return `{\n${lines.join("\n")}\n${indent}}`;
}

function member(
  { name, shape, required, description }: Member,
  indent: string,
  scope: Scope,
): string {
  const words = description === "" ? "" : `${indent}/** ${comment(description)} */\n`;
  return `${words}${indent}${JSON.stringify(name)}${required ? "" : "?"}: ${typeOf(shape, indent, scope)};`;
}

function listOf(type: string): string {
  return /^\w+$/.test(type) ? `readonly ${type}[]` : `ReadonlyArray<${type}>`;
}

function comment(text: string): string {
  return text.replaceAll("*/", "*\\/");
}
