import { isObject } from "../lib/is-object.ts";
import { after } from "./clock.ts";
import { DEDUPE_KEY, DEDUPE_KEY_RULE } from "./dedupe-key.ts";
import type { Fault } from "./errors.ts";
import { type EventTypes, isOwnType } from "./event-types.ts";
import { readTimestamp, TIMESTAMP_RULE } from "./timestamp.ts";
import { listed } from "./violation.ts";

export const EVENTS_OF_REQUEST_MAX = 1_000;
/** The limit of one event's data as JSON, in bytes. */
export const DATA_BYTES_MAX = 256 * 1024;
/** The limit of nested containers in one event's data, the data itself included. */
export const DATA_DEPTH_MAX = 100;
/** How far a publisher's clock may be ahead of ours. */
const AHEAD_MAX_MS = 5 * 60_000;

/** An event in the form that publishers send. */
export interface EventRequest {
  /** An id or a slug. */
  organization: string;
  type: string;
  /** JSON text. */
  data: string;
  occurredAt?: Date;
  dedupeKey?: string;
}

/** The data for the checks of an event. */
export interface Judging {
  types: EventTypes;
  now: Date;
  retentionMs: number;
  /** Faults of the JSON text. Data that has one is not checked further. */
  documentFaults: readonly Fault[];
  /** Gets the data that another thread has to check. */
  doubts: Doubt[];
}

/** Data whose faults, if any, are not known yet. */
export interface Doubt {
  /** The data's place in the request. */
  pointer: string;
  faults(): Promise<Fault[]>;
}

type Members = Record<string, unknown>;

/** Returns the events of a body by pointer, and whether it is a batch. */
export function eventsIn(body: unknown): { isBatch: boolean; events: Map<string, unknown> } {
  if (!isObject(body) || !Object.hasOwn(body, "events")) {
    return { isBatch: false, events: new Map([["", body]]) };
  }
  const listed = body["events"];
  const items: unknown[] = Array.isArray(listed) ? listed : [];
  return { isBatch: true, events: new Map(items.map((event, i) => [`/events/${i}`, event])) };
}

/** Returns the organization that an event names, even if the event has other faults. */
export function organizationOf(given: unknown): string | null {
  const name = isObject(given) ? own(given, "organization") : null;
  return typeof name === "string" ? name : null;
}

/** Returns the faults of a batch's list. */
export function batchFaults(body: unknown): Fault[] {
  const { events } = body as Members;
  const at = (detail: string) => [{ pointer: "/events", detail }];
  if (!Array.isArray(events)) return at("must be an array");
  if (events.length === 0) return at("must have at least 1 item");
  return events.length > EVENTS_OF_REQUEST_MAX
    ? at(`must have at most ${EVENTS_OF_REQUEST_MAX} items`)
    : [];
}

/** Reads one event. If it has faults, adds them to `faults` and returns null. */
export function readEvent(
  given: unknown,
  pointer: string,
  judging: Judging,
  faults: Fault[],
): EventRequest | null {
  if (!isObject(given)) {
    faults.push({ pointer, detail: "must be an object" });
    return null;
  }
  const before = faults.length;
  const blame = (member: string, detail: string) =>
    faults.push({ pointer: `${pointer}/${member}`, detail });
  const organization = readText(given, "organization", blame);
  const type = readType(given, judging.types, blame);
  const data = readData(given, type, `${pointer}/data`, judging, faults);
  const occurredAt = readOccurredAt(given, judging, blame);
  const dedupeKey = readDedupeKey(given, blame);
  if (faults.length > before || organization === null || type === null || data === null)
    return null;
  const event: EventRequest = { organization, type, data };
  if (occurredAt) event.occurredAt = occurredAt;
  if (dedupeKey !== undefined) event.dedupeKey = dedupeKey;
  return event;
}

type Blame = (member: string, detail: string) => void;

function readText(given: Members, member: string, blame: Blame): string | null {
  const value = own(given, member);
  if (typeof value === "string") return value;
  blame(member, value === undefined ? "is required" : "must be a string");
  return null;
}

/** Returns null if the type cannot be published. */
function readType(given: Members, types: EventTypes, blame: Blame): string | null {
  const type = readText(given, "type", blame);
  if (type === null || (types.find(type) && !isOwnType(type))) return type;
  const known = types.names.filter((name) => !isOwnType(name));
  blame(
    "type",
    known.length > 0
      ? `must be one of ${listed(known)}`
      : "must be a known type, and none is configured: EVENT_TYPES names the folder of types",
  );
  return null;
}

/** Returns the data as JSON text. Null if it has faults. */
function readData(
  given: Members,
  type: string | null,
  pointer: string,
  { types, documentFaults, doubts }: Judging,
  faults: Fault[],
): string | null {
  const data = own(given, "data");
  if (!isObject(data)) {
    faults.push({ pointer, detail: data === undefined ? "is required" : "must be an object" });
    return null;
  }
  const isWithin = (fault: Fault) =>
    fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`);
  if (documentFaults.some(isWithin)) return null;

  const text = JSON.stringify(data);
  if (Buffer.byteLength(text) > DATA_BYTES_MAX) {
    faults.push({ pointer, detail: `must be at most ${DATA_BYTES_MAX / 1024} KiB as JSON` });
    return null;
  }
  const { check, faultsOf } = (type === null ? undefined : types.find(type)) ?? {};
  if (!check) {
    for (const fault of faultsOf?.(data) ?? []) faults.push(within(pointer, fault));
  } else if (check.accepts(data, text.length) !== true) {
    doubts.push({ pointer, faults: () => check.faultsApart(text) });
  }
  return text;
}

/** Returns a fault of data as one of the request. */
export function within(pointer: string, fault: Fault): Fault {
  return { ...fault, pointer: pointer + fault.pointer };
}

function readOccurredAt(
  given: Members,
  { now, retentionMs }: Judging,
  blame: Blame,
): Date | undefined {
  const value = own(given, "occurred_at");
  if (value === undefined) return undefined;
  const time = typeof value === "string" ? readTimestamp(value) : null;
  if (time === null) blame("occurred_at", `must be ${TIMESTAMP_RULE}`);
  else if (time > after(now, AHEAD_MAX_MS)) {
    blame("occurred_at", "must be at most 5 minutes ahead of the service's clock");
  } else if (time < after(now, -retentionMs)) {
    blame("occurred_at", "must not be older than the retention period");
  }
  return time ?? undefined;
}

function readDedupeKey(given: Members, blame: Blame): string | undefined {
  const value = own(given, "dedupe_key");
  if (value === undefined) return undefined;
  if (typeof value === "string" && DEDUPE_KEY.test(value)) return value;
  blame("dedupe_key", `must be ${DEDUPE_KEY_RULE}`);
  return undefined;
}

/** Ignores inherited members, such as `constructor`. */
function own(given: Members, member: string): unknown {
  return Object.hasOwn(given, member) ? given[member] : undefined;
}
