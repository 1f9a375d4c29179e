import { after } from "../../lib/clock.ts";
import { readTimestamp, TIMESTAMP_RULE } from "../../lib/duration.ts";
import { type Fault, listed } from "../../lib/errors.ts";
import { type EventId, type OrganizationId, publicId, type SubscriptionId } from "../../lib/ids.ts";
import { isObject } from "../../lib/objects.ts";
import { type EventTypes, isOwnType, OWN_EVENT_TYPES } from "../event-types/rules.ts";

/** How long a dedupe key stands for its event. */
export const DEDUPE_MS = 24 * 3_600_000;

/** Visible ASCII, 1 to 255 characters. */
export const DEDUPE_KEY = /^[!-~]{1,255}$/;

/** `DEDUPE_KEY` in words. */
export const DEDUPE_KEY_RULE = "1 to 255 visible ASCII characters";

export const EVENTS_OF_REQUEST_MAX = 1_000;
/** The limit of one event's data as JSON, in bytes. */
export const DATA_BYTES_MAX = 256 * 1024;
export const DATA_BYTES_RULE = `must be at most ${DATA_BYTES_MAX / 1024} KiB as JSON`;
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
    faults.push({ pointer, detail: DATA_BYTES_RULE });
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

export const TEST_EVENT = "vc.test.ping" satisfies keyof typeof OWN_EVENT_TYPES;
export const TEST_EVENT_DATA = JSON.stringify(OWN_EVENT_TYPES[TEST_EVENT].example);

/** An event to publish. */
export interface NewEvent {
  organizationId: OrganizationId;
  type: string;
  /** JSON text without control characters. */
  data: string;
  /** Default: the time of publishing. */
  occurredAt?: Date;
  /** Default: every active subscription of the organization that lists the type. */
  subscriptionId?: SubscriptionId;
  /** A second event of the organization with this key within 24 hours is a duplicate. */
  dedupeKey?: string;
  /** The id of the request that publishes it. */
  requestId?: string;
  /** The span that publishes it. */
  traceparent?: string;
}

/** The fields of an envelope. `data` is JSON text, so that its bytes never change. */
interface EventRecord {
  id: EventId;
  type: string;
  occurredAt: Date;
  data: string;
}

/** The JSON body of a delivery. Every attempt sends the same bytes. */
export function encodeEnvelope(event: EventRecord, subscriptionId: SubscriptionId): Buffer {
  return Buffer.from(
    `{"event":${JSON.stringify(event.type)}` +
      `,"id":"${publicId("evt", event.id)}"` +
      `,"subscription_id":"${publicId("wh", subscriptionId)}"` +
      `,"occurred_at":"${event.occurredAt.toISOString()}"` +
      `,"data":${event.data}}`,
  );
}

/** The time, ids and secret of examples in the documentation. */
export const EXAMPLE = {
  eventId: "019bd1f1-0a00-7000-9b1c-5d6e7f809a1b",
  subscriptionId: "0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
  time: new Date("2026-01-31T09:30:00.000Z"),
  signingSecret: `whsec_${"A".repeat(44)}`,
};

/** The body of a delivery with this example of `data`. */
export function exampleBody(type: string, data: object): Buffer {
  const event = {
    id: EXAMPLE.eventId,
    type,
    occurredAt: EXAMPLE.time,
    data: JSON.stringify(data),
  };
  return encodeEnvelope(event, EXAMPLE.subscriptionId);
}

/** How long the answer to a request with a key is kept. */
export const ANSWER_KEPT_MS = 24 * 3_600_000;

export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

export const IDEMPOTENCY_KEY_RULE = "must be 1 to 255 visible ASCII characters";

export function isIdempotencyKey(text: string): boolean {
  return IDEMPOTENCY_KEY.test(text);
}

/** The operations that accept a key, as the OpenAPI document names them. A key is unique within one. */
export type KeyedRoute = "createSubscription" | "sendTestEvent";
