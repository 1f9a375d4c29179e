import { type TSchema, Type } from "typebox";
import type { FastifySchemaCompiler } from "fastify";
import { PAGE_LIMIT, type PageRequest } from "../domain/page.ts";
import { textOrNull } from "./nullable-schema.ts";

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
 * Turns the validator off for routes whose query `readPageRequest` reads. Their schema is documentation, and `actions/pages.ts`
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
