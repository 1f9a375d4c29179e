import { type Fault, rangeFaults, requireNoFaults } from "../lib/errors.ts";
import {
  decodeCursor,
  encodeCursor,
  type Page,
  PAGE_LIMIT,
  type PageRequest,
} from "../lib/page.ts";
import { readBoolean } from "./deliveries/query.ts";

/** A list that is read page by page. */
interface PagedList<Row, Item> {
  name: string;
  /** The pattern of a position. */
  form: RegExp;
  positionOf: (row: Row) => string;
  /** Returns rows in the list's order, from behind the position `after`. */
  rows: (after: string | null, limit: number) => Promise<Row[] | Part<Row>>;
  view: (row: Row) => Item;
  /** Further faults of the request. */
  faults?: Fault[];
}

/** The result of a partial search. `reached` is the position where it stopped, or null at the end of the list. */
interface Part<Row> {
  rows: Row[];
  reached: string | null;
}

/** Returns one page. Reads one row more than fits, to know if there is a next page. */
export async function readPage<Row, Item>(
  { limit = PAGE_LIMIT.default, cursor, mergeable }: PageRequest,
  { name, form, positionOf, rows, view, faults = [] }: PagedList<Row, Item>,
): Promise<Page<Item>> {
  const after = cursor === undefined ? null : decodeCursor(name, form, cursor);
  const isMergeable = readBoolean("/mergeable", mergeable, faults) ?? false;
  requireNoFaults([
    ...faults,
    ...rangeFaults("/limit", limit, PAGE_LIMIT.max),
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
    ...(isMergeable && { cursors: shown.map((row) => encodeCursor(name, positionOf(row))) }),
  };
}
