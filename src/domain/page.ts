import { createHash } from "node:crypto";

export const PAGE_LIMIT = { default: 50, max: 200 };

/** At most `limit` items, from the start or after `cursor`. */
export interface PageRequest {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** `next_cursor` is null on the last page. */
export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
  /** Returns the cursor of each item, for a merge with pages of other shards. */
  cursors?: () => string[];
  /** The names of shards that did not answer, if there are any. Their items are missing. */
  unavailable_shards?: string[];
}

/** The order of a list, by its positions. */
export type Order = "ascending" | "descending";

/**
 * Merges pages of the same request, each of another shard. A page that has a next one is known up to its `next_cursor`, so the
 * merged page ends there as well. An item that two shards have is shown once.
 */
export function mergePages<Item>(
  pages: Page<Item>[],
  { limit = PAGE_LIMIT.default, order }: { limit?: number | undefined; order: Order },
): Page<Item> {
  const compare = (a: string, b: string) => {
    const [one, other] = order === "ascending" ? [a, b] : [b, a];
    return one < other ? -1 : Number(one > other);
  };
  const entries = pages
    .flatMap(({ items, cursors }) => {
      const found = cursors?.() ?? [];
      return items.map((item, i) => {
        const cursor = found[i] ?? "";
        return { item, cursor, at: positionIn(cursor) };
      });
    })
    .sort((a, b) => compare(a.at, b.at))
    .filter(({ at }, i, sorted) => at !== sorted[i - 1]?.at);
  const [end = null] = pages
    .flatMap(({ next_cursor: cursor }) => cursor ?? [])
    .sort((a, b) => compare(positionIn(a), positionIn(b)));
  const known = entries.filter(({ at }) => end === null || compare(at, positionIn(end)) <= 0);
  const shown = known.slice(0, limit);
  const next = known.length > limit ? (shown.at(-1)?.cursor ?? null) : end;
  return { items: shown.map(({ item }) => item), next_cursor: next };
}

/**
 * An opaque position in a list. A digest binds it to its list, so that a damaged cursor or one of
 * another list is refused. The digest guards against mistakes, not forgery: a position grants
 * nothing.
 */
export function encodeCursor(list: string, position: string): string {
  const text = Buffer.from(position);
  return Buffer.concat([digest(list, position), text]).toString("base64url");
}

/** The position in `list`, or null if `encodeCursor` did not make this cursor from a position of this form. */
export function decodeCursor(list: string, form: RegExp, cursor: string): string | null {
  const position = positionIn(cursor);
  return form.test(position) && encodeCursor(list, position) === cursor ? position : null;
}

function positionIn(cursor: string): string {
  return Buffer.from(cursor, "base64url").subarray(DIGEST_BYTES).toString();
}

const DIGEST_BYTES = 9;

function digest(list: string, position: string): Buffer {
  const hash = createHash("sha256").update(`${list}\n${position}`).digest();
  return hash.subarray(0, DIGEST_BYTES);
}
