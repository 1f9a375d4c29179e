import { createHash } from "node:crypto";

/** How many items a page of a list holds. */
export const PAGE_LIMIT = { default: 50, max: 200 };

/** Which page: at most `limit` items, from the start or from where the page before ended. */
export interface PageRequest {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** `next_cursor` is null on the last page. */
export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

/**
 * Where a list goes on, for callers to hand back unread. A digest binds it to its list, so that another list's cursor
 * or a damaged one does not pass. It keeps out slips, not forgers: a position grants nothing.
 */
export function encodeCursor(list: string, position: string): string {
  const text = Buffer.from(position);
  return Buffer.concat([digest(list, position), text]).toString("base64url");
}

/** The position in `list`, or null for anything that `encodeCursor` never made of a position of this form. */
export function decodeCursor(list: string, form: RegExp, cursor: string): string | null {
  const position = Buffer.from(cursor, "base64url").subarray(DIGEST_BYTES).toString();
  return form.test(position) && encodeCursor(list, position) === cursor ? position : null;
}

const DIGEST_BYTES = 9;

function digest(list: string, position: string): Buffer {
  const hash = createHash("sha256").update(`${list}\n${position}`).digest();
  return hash.subarray(0, DIGEST_BYTES);
}
