import { Type } from "typebox";

const FORM = { format: "date-time", description: "ISO 8601, UTC, with milliseconds." };

export const Timestamp = Type.String(FORM);
export const NullableTimestamp = Type.Unsafe<string | null>({ ...FORM, type: ["string", "null"] });

/** The same, if null needs a description. */
export const timestampOrNull = (description: string) =>
  Type.Unsafe<string | null>({ ...NullableTimestamp, description });
