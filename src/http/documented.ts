type Json = Record<string, unknown>;

/** The keyword of these constraints, until the document is made. */
export const DOCUMENTED = "x-documented";

/**
 * Adds constraints to a schema that are documented only, because something else than the validator enforces them: with a code of
 * its own, or together with all other faults.
 */
export function documented<Schema extends object>(constraints: object, schema: Schema): Schema {
  return { ...schema, [DOCUMENTED]: constraints };
}

/** Returns the document with these constraints in their schemas. */
export function withDocumented(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDocumented);
  if (typeof value !== "object" || value === null) return value;
  const { [DOCUMENTED]: constraints, ...rest } = value as Json;
  const entries = Object.entries(rest).map(([key, member]) => [key, withDocumented(member)]);
  return { ...(Object.fromEntries(entries) as Json), ...(constraints as Json | undefined) };
}
