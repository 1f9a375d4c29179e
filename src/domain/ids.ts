import { randomFillSync, randomUUID } from "node:crypto";

/** How a bare UUID is written, as a piece of a pattern. */
export const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** The public prefixes of ids. In the database an id is its bare UUID. */
const PREFIXES = ["org", "wh", "evt", "dlv", "att"] as const;
type IdPrefix = (typeof PREFIXES)[number];

const FORMS = new Map<IdPrefix, RegExp>(
  PREFIXES.map((prefix) => [prefix, new RegExp(`^${prefix}_(${UUID})$`)]),
);

/** `wh_<uuid>` for a bare UUID. */
export function publicId(prefix: IdPrefix, uuid: string): string {
  return `${prefix}_${uuid}`;
}

/** The bare UUID of a public id, or null when it is not one of that kind. */
export function parseId(prefix: IdPrefix, id: string): string | null {
  return FORMS.get(prefix)?.exec(id)?.[1] ?? null;
}

/** A random id, for things whose age is nobody's business. */
export function randomId(): string {
  return randomUUID();
}

const pool = Buffer.alloc(4096);
let used = pool.length;
let lastMs = 0;
let stamp = "";
let sequence = 0;

/**
 * A UUIDv7 (RFC 9562): sorts by `time`, so that index pages fill in order and a list by id is a list by age; and by
 * order of making among up to 4,096 that follow each other in one millisecond.
 */
export function timeOrderedId(time: Date): string {
  const ms = time.getTime();
  sequence = ms === lastMs ? (sequence + 1) & 0xfff : 0;
  if (ms !== lastMs) stamp = ms.toString(16).padStart(12, "0");
  lastMs = ms;

  if (used + 8 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.toString("hex", used, used + 8);
  used += 8;

  const variant = ((Number.parseInt(random.slice(0, 1), 16) & 0x3) | 0x8).toString(16);
  const count = sequence.toString(16).padStart(3, "0");
  return `${stamp.slice(0, 8)}-${stamp.slice(8)}-7${count}-${variant}${random.slice(1, 4)}-${random.slice(4)}`;
}
