import { Type } from "typebox";
import { nullable } from "./nullable-schema.ts";

const FORM = { format: "date-time", description: "ISO 8601, UTC, with milliseconds." };

export const Timestamp = Type.String(FORM);
export const NullableTimestamp = nullable(Timestamp);

/** A time that a client sends, from 1970 on. */
export const SENT_TIME = { format: "date-time", pattern: "^(?:19[7-9][0-9]|[2-9][0-9]{3})-" };

/** The same as an optional parameter. */
export function sentTime(description: string) {
  return Type.Optional(Type.String({ ...SENT_TIME, description }));
}

/** The same, if null needs a description. */
export function timestampOrNull(description: string) {
  return nullable(Type.String({ ...FORM, description }));
}
