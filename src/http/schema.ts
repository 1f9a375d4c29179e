import type { FastifySchemaCompiler } from "fastify";
import { type TSchema, Type } from "typebox";
import { PAGE_LIMIT, type PageRequest } from "../lib/page.ts";

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

/** Allows null besides the schema. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, ...rest } = schema as Schema & { type: string };
  return Type.Unsafe<Type.Static<Schema> | null>({ type: [type, "null"], ...rest });
}

export function textOrNull(description: string) {
  return nullable(Type.String({ description }));
}

/** The query of every paged list. */
export const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_LIMIT.max,
      default: PAGE_LIMIT.default,
      description: "The maximum number of items in a page.",
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_-]+$",
      description: "The `next_cursor` of the previous page; absent for the first page.",
    }),
  ),
});

export function pageOf<Item extends TSchema>(item: Item, title: string, description: string) {
  return Type.Object(
    {
      items: Type.Array(item, { description: "At most `limit` items." }),
      next_cursor: textOrNull("The cursor of the next page; null on the last page."),
    },
    { title, description },
  );
}

/** Of an answer that a gateway merges from its cells. */
export const Unreachable = Type.Optional(
  Type.Array(Type.String(), {
    description:
      "Only from a gateway, and only if cells did not answer: their names. Their items are missing.",
  }),
);

/** A query parameter for gateways. */
export const Mergeable = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      "For gateways: adds what it takes to merge the response with those of other cells.",
  }),
);

export const CellsPageQuery = Type.Object({ ...PageQuery.properties, mergeable: Mergeable });

/** A page of a list that the cells of a gateway have parts of. */
export function pageOfCells<Item extends TSchema>(item: Item, title: string, description: string) {
  const { properties } = pageOf(item, title, description);
  const cursors = Type.Optional(
    Type.Array(Type.String(), { description: "Only with `mergeable`: the cursor of each item." }),
  );
  return Type.Object({ ...properties, cursors, unreachable: Unreachable }, { title, description });
}

/**
 * Turns the validator off for routes whose query `readPageRequest` reads. Their schema is documentation, and `subjects/pages.ts`
 * enforces it. The validator would see a text in place of a number, and would report only the faults that it knows.
 */
export const readByHand: FastifySchemaCompiler<unknown> = () => () => true;

/** Reads the request of a page. Passes unreadable values on, so that the list refuses them. */
export function readPageRequest(query: unknown): PageRequest {
  const { limit, cursor } = query as Record<string, unknown>;
  return {
    limit: limit === undefined ? undefined : readInteger(limit),
    cursor: cursor === undefined || typeof cursor === "string" ? cursor : "",
  };
}

function readInteger(value: unknown): number {
  return typeof value === "string" && /^[0-9]{1,9}$/.test(value) ? Number(value) : NaN;
}

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
