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
  /** Returns the cursor of each item, for gateways, which merge the pages of several cells. */
  cursors?: () => string[];
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
  const position = Buffer.from(cursor, "base64url").subarray(DIGEST_BYTES).toString();
  return form.test(position) && encodeCursor(list, position) === cursor ? position : null;
}

const DIGEST_BYTES = 9;

function digest(list: string, position: string): Buffer {
  const hash = createHash("sha256").update(`${list}\n${position}`).digest();
  return hash.subarray(0, DIGEST_BYTES);
}
