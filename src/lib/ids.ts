import { randomFillSync, randomUUID } from "node:crypto";

/** A pattern for bare UUIDs, without anchors. */
export const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** The prefixes of public ids. The database stores bare UUIDs. */
const PREFIXES = ["org", "wh", "evt", "dlv", "att", "prc", "rdl", "chg", "brg"] as const;
type IdPrefix = (typeof PREFIXES)[number];

declare const kind: unique symbol;

/**
 * An id of one kind, a bare UUID unless said. The compiler refuses an id of another kind. It accepts a plain string, because
 * rows and the functions below are the only sources of ids, and a required mark would be a cast at each of them.
 */
type Id<Kind extends IdPrefix | "lease" | "key" | "node"> = string & { readonly [kind]?: Kind };

export type OrganizationId = Id<"org">;
export type SubscriptionId = Id<"wh">;
export type EventId = Id<"evt">;
export type DeliveryId = Id<"dlv">;
export type AttemptId = Id<"att">;
/** The id of a running process. */
export type ProcessId = Id<"prc">;
/** The id of a running bridge. */
export type BridgeId = Id<"brg">;
/** The id of a change by an operator. */
export type ChangeId = Id<"chg">;
/** The id of a redelivery job. */
export type RedeliveryId = Id<"rdl">;
export type LeaseId = Id<"lease">;
/** The public half of a token. No UUID. */
export type KeyId = Id<"key">;
/** The id under which a process announces event types. */
export type NodeId = Id<"node">;

const FORMS = new Map<IdPrefix, RegExp>(
  PREFIXES.map((prefix) => [prefix, new RegExp(`^${prefix}_(${UUID})$`)]),
);

export function publicId<Prefix extends IdPrefix>(prefix: Prefix, uuid: Id<Prefix>): string {
  return `${prefix}_${uuid}`;
}

/** The bare UUID of a public id, or null if the id has another form or prefix. */
export function parseId<Prefix extends IdPrefix>(prefix: Prefix, id: string): Id<Prefix> | null {
  return FORMS.get(prefix)?.exec(id)?.[1] ?? null;
}

const ANY_ID = new RegExp(`(?<![0-9a-z_])(?:${PREFIXES.join("|")})_${UUID}(?![0-9a-z-])`);

/** The first public id in a text that someone pasted, such as a header, a line of a log or a URL. Null if there is none. */
export function idIn(text: string): string | null {
  return ANY_ID.exec(text)?.[0] ?? null;
}

/** The pattern of a public id in the OpenAPI document. */
export function idPattern(prefix: IdPrefix): string {
  return `^${prefix}_${UUID}$`;
}

/** A random id, for things whose age is private. */
export function randomId(): string {
  return randomUUID();
}

const pool = Buffer.alloc(4096);
let used = pool.length;
let lastMs = 0;
let stamp = "";
let sequence = 0;

/**
 * A UUIDv7 (RFC 9562). Ids sort by `time`, so index pages fill in order. Up to 4,096 ids of one
 * millisecond also sort in the order of creation.
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

/**
 * The same for an event or a redelivery: the last four digits are zero. The deliveries of an event count there, so that their ids
 * say the event.
 */
export function numberedId(time: Date): string {
  return `${timeOrderedId(time).slice(0, -4)}0000`;
}

/** The largest id that a delivery of this event can have. That of the event itself, if no event can have such an id. */
export function lastDeliveryOf(event: EventId): DeliveryId {
  return `${event.slice(0, -4)}${event.endsWith("0000") ? "ffff" : event.slice(-4)}`;
}

/** The id of an attempt follows from its delivery, its number and its start. A success is recorded without it. */
export function attemptId(delivery: DeliveryId, number: number, startedAt: Date): AttemptId {
  const ms = startedAt.getTime().toString(16).padStart(12, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${number.toString(16).padStart(3, "0")}${delivery.slice(18)}`;
}

/** The smallest id of a moment. That of 1970 stands for all earlier ones. */
export function firstIdAt(time: Date): string {
  const ms = Math.max(0, time.getTime()).toString(16).padStart(12, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`;
}

/** The time in a UUIDv7. It also works for a delivery's id, which begins like its event's. */
export function timeOfId(uuid: string): Date {
  return new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16));
}
