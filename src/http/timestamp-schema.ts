import { Type } from "typebox";
import { nullable } from "./nullable-schema.ts";

const FORM = { format: "date-time", description: "ISO 8601, UTC, with milliseconds." };

export const Timestamp = Type.String(FORM);
export const NullableTimestamp = nullable(Timestamp);

/** The same, if null needs a description. */
export function timestampOrNull(description: string) {
  return nullable(Type.String({ ...FORM, description }));
}
