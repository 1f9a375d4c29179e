import { type TSchema, Type } from "typebox";

/** Allows null besides the schema. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, ...rest } = schema as Schema & { type: string };
  return Type.Unsafe<Type.Static<Schema> | null>({ type: [type, "null"], ...rest });
}

export function textOrNull(description: string) {
  return nullable(Type.String({ description }));
}
