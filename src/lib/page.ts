import { createHash } from "node:crypto";

export const PAGE_LIMIT = { default: 50, max: 200 };

/** At most `limit` items, from the start or after `cursor`. */
export interface PageRequest {
  limit?: number | undefined;
  cursor?: string | undefined;
  /** `true`: the page has the cursors of its items, with which a gateway merges the pages of several cells. */
  mergeable?: string | undefined;
}

/** `next_cursor` is null on the last page. */
export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
  cursors?: string[];
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

/** Positions sort as text, in the order of their list or against it. */
export function positionIn(cursor: string): string {
  return Buffer.from(cursor, "base64url").subarray(DIGEST_BYTES).toString();
}

const DIGEST_BYTES = 9;

function digest(list: string, position: string): Buffer {
  const hash = createHash("sha256").update(`${list}\n${position}`).digest();
  return hash.subarray(0, DIGEST_BYTES);
}
