type Json = Record<string, unknown>;

/** Keywords whose values are data. A member called `title` names nothing there. */
const LITERAL = new Set(["example", "examples", "default", "enum", "const"]);

/**
 * Moves every schema that has a `title` to the components, under this name, and leaves a reference in its place. Generated clients
 * name their models so. Throws if two schemas that differ have the same name.
 */
export function nameSchemas(paths: object, components: object): { paths: object; schemas: object } {
  const schemas: Record<string, Json> = {};
  const moved = move(paths) as object;
  for (const [name, schema] of Object.entries(components)) {
    add(name, move(without(schema as Json, "title")) as Json);
  }
  return { paths: moved, schemas: sorted(schemas) };

  function move(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(move);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(
      ([key, member]) => [key, LITERAL.has(key) ? member : move(member)] as const,
    );
    const { title, ...schema } = Object.fromEntries<unknown>(entries);
    if (typeof title !== "string") return Object.fromEntries(entries);
    add(title, schema);
    return { $ref: `#/components/schemas/${title}` };
  }

  /** An example may have been moved from the schema to where it is used. */
  function add(name: string, schema: Json): void {
    const before = schemas[name];
    if (before && textOf(before) !== textOf(schema)) {
      throw new Error(`two different schemas are called ${name}`);
    }
    schemas[name] = { ...before, ...schema };
  }
}

function textOf(schema: Json): string {
  return JSON.stringify(without(schema, "examples"));
}

function without(value: Json, name: string): Json {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

function sorted(schemas: Record<string, Json>): object {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}
