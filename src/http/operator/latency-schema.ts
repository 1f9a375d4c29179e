import { type TSchema, Type } from "typebox";

/** Allows null besides the schema. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, ...rest } = schema as Schema & { type: string };
  return Type.Unsafe<Type.Static<Schema> | null>({ ...rest, type: [type, "null"] });
}

export const Latency = Type.Object(
  { p50: nullable(Type.Integer()), p99: nullable(Type.Integer()) },
  { description: "In milliseconds, to within 8 %; null if nothing was measured." },
);

export const SuccessShare = nullable(
  Type.Number({ description: "Of attempts, from 0 to 1; null if nothing was attempted." }),
);

export const Waiting = Type.Object(
  {
    due: nullable(Type.Integer({ description: "May be attempted now." })),
    scheduled: nullable(Type.Integer({ description: "Will be attempted later." })),
    estimated: Type.Boolean({ description: "Counts are exact to 10,000 and estimates beyond." }),
  },
  { description: "Deliveries that wait and that nobody has claimed." },
);
