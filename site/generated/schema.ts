import type { Schema } from "./openapi-document.ts";

/** A member of an object. */
export type Member = readonly [name: string, type: string, description: string];

/** The members of an object or of the items of a list. Nested items are named like `items[].id`. */
export function members(schema: Schema, prefix = ""): Member[] {
  if (schema.items) return members(schema.items, prefix === "" ? "" : `${prefix}[].`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]): Member[] => {
    const full = prefix + name;
    const own: Member = [full, typeOf(member), remarks(member)];
    return member.items?.properties ? [own, ...members(member, full)] : [own];
  });
}

export function typeOf({ type = [], items }: Schema): string {
  if (items) return `array of ${typeOf(items)}s`;
  return [type].flat().join(" or ");
}

/** The description with values, bounds and default. */
export function remarks({
  description = "",
  enum: values,
  minimum,
  maximum,
  ...rest
}: Schema): string {
  const bounds = [
    ...(values ? [`One of ${values.map((value) => `\`${value}\``).join(", ")}.`] : []),
    ...(minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}.`] : []),
    ...(rest.default === undefined ? [] : [`Default ${rest.default}.`]),
  ];
  return [description, ...bounds].filter((text) => text !== "").join(" ");
}

/** An example value: the schema's own, or one built from its parts. */
export function exampleOf({ examples, type, items, properties }: Schema): unknown {
  if (examples) return examples[0];
  if (items) return [exampleOf(items)];
  if (properties) {
    const values = Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]);
    return Object.fromEntries(values) as object;
  }
  return [type].flat().includes("null") ? null : "…";
}
