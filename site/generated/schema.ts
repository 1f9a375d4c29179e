import type { Schema } from "./openapi-document.ts";

/** A member of an object: its name, its type and what there is to say about it. */
export type Member = readonly [name: string, type: string, description: string];

/** The members of an object, of a list's items, or of a page's items, as `items[].id`. */
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

/** What its description says, and the bounds that it does not. */
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

/** A value that fits the schema: its own example, or one put together from those of its parts. */
export function exampleOf({ examples, type, items, properties }: Schema): unknown {
  if (examples) return examples[0];
  if (items) return [exampleOf(items)];
  if (properties) {
    const values = Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]);
    return Object.fromEntries(values) as object;
  }
  return [type].flat().includes("null") ? null : "…";
}
