import type { Member, Shape, TypedEvent } from "./shape.ts";

/** Returns the types of the data in TypeScript. */
export function typescriptTypes(events: readonly TypedEvent[]): string {
  const lines = events.map(
    ({ name, summary, shape }) =>
      `  /** ${comment(summary)} */\n  ${JSON.stringify(name)}: ${typeOf(shape, "  ")};`,
  );
  return `export interface EventData {\n${lines.join("\n")}\n}`;
}

function typeOf(shape: Shape, indent: string): string {
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
      return `readonly ${inParentheses(typeOf(shape.items, indent))}[]`;
    case "map":
      return `{ readonly [name: string]: ${typeOf(shape.values, indent)} }`;
    case "union":
      return shape.of.map((one) => inParentheses(typeOf(one, indent))).join(" | ");
    case "object":
      return `{\n${shape.members.map((one) => member(one, `${indent}  `)).join("\n")}\n${indent}}`;
  }
}

function member({ name, shape, required, description }: Member, indent: string): string {
  const words = description === "" ? "" : `${indent}/** ${comment(description)} */\n`;
  return `${words}${indent}${JSON.stringify(name)}${required ? "" : "?"}: ${typeOf(shape, indent)};`;
}

function inParentheses(type: string): string {
  return /^(\w+|\{[^]*\})$/.test(type) ? type : `(${type})`;
}

function comment(text: string): string {
  return text.replaceAll("*/", "*\\/");
}
