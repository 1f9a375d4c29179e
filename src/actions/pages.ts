import type { Fault } from "../domain/errors.ts";
import { requireNoFaults } from "../domain/faults.ts";
import {
  decodeCursor,
  encodeCursor,
  type Page,
  PAGE_LIMIT,
  type PageRequest,
} from "../domain/page.ts";

/** A list that is read page by page: what its rows are, where each stands, and how it is shown. */
export interface PagedList<Row, Item> {
  name: string;
  /** What a position looks like. */
  form: RegExp;
  positionOf: (row: Row) => string;
  /** Rows in the list's order, beginning behind the position `after`. */
  rows: (after: string | null, limit: number) => Promise<Row[] | Part<Row>>;
  view: (row: Row) => Item;
  /** What else is wrong with the request. */
  faults?: Fault[];
}

/** What a search has found so far. `reached` is the position that it has come to, or null if that is the end. */
export interface Part<Row> {
  rows: Row[];
  reached: string | null;
}

/** One page. Asks for one row more than fits, to know whether there is a next page. */
export async function readPage<Row, Item>(
  { limit = PAGE_LIMIT.default, cursor }: PageRequest,
  { name, form, positionOf, rows, view, faults = [] }: PagedList<Row, Item>,
): Promise<Page<Item>> {
  const after = cursor === undefined ? null : decodeCursor(name, form, cursor);
  const isLimit = Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMIT.max;
  requireNoFaults([
    ...faults,
    ...(isLimit
      ? []
      : [{ pointer: "/limit", detail: `must be an integer from 1 to ${PAGE_LIMIT.max}` }]),
    ...(cursor !== undefined && after === null
      ? [{ pointer: "/cursor", detail: "must be the next_cursor of a page of this list" }]
      : []),
  ]);

  const part = await rows(after, limit + 1);
  const { rows: found, reached } = Array.isArray(part) ? { rows: part, reached: null } : part;
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const next = found.length > limit && last !== undefined ? positionOf(last) : reached;
  return {
    items: shown.map((row) => view(row)),
    next_cursor: next === null ? null : encodeCursor(name, next),
  };
}
