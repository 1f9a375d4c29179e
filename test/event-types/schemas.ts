import { findBreakingChanges } from "../../src/event-types/compare.ts";
import type { Definition } from "../../src/event-types/definition.ts";

export type Schema = Record<string, unknown>;

export const define = (schema: Schema, name = "a.b"): Definition => ({
  name,
  summary: "Something happened",
  schema,
  example: {},
});
export const changes = (before: Schema, after: Schema): string[] =>
  findBreakingChanges([define(before)], [define(after)]).map(({ detail }) => detail);

export const object = (
  properties: Schema,
  required: string[] = [],
  further: Schema = {},
): Schema => ({
  type: "object",
  properties,
  required,
  ...further,
});
export const text = { type: "string" };
