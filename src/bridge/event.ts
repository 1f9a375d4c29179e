import { createHash } from "node:crypto";
import { parseTraceparent } from "../lib/traceparent.ts";
import { DEDUPE_KEY } from "../subjects/events/rules.ts";
import { readCloudEvent } from "./cloud-event.ts";
import { Document, Unfit } from "./document.ts";
import { unwrapped } from "./json-text.ts";
import type { Message, Place } from "./source.ts";

export const MEMBERS = ["organization", "type", "data", "occurred_at", "dedupe_key"] as const;
export type Member = (typeof MEMBERS)[number];

/** Where a member of the event comes from. A constant is JSON text. */
export type Origin =
  { constant: string } | { pointer: readonly string[] } | { header: string } | { from: Place };

export type Mapping = Readonly<Partial<Record<Member, Origin>>>;

/** The mapping from members of the document that have these names. */
export function byPointer(...members: Member[]): Mapping {
  return Object.fromEntries(members.map((member) => [member, { pointer: [member] }]));
}

/** How the messages of a source become events. */
export interface Becoming {
  /** The name of the source, which the default dedupe key begins with. */
  source: string;
  /** As configured. */
  mapping: Mapping;
  /** For what is neither configured nor in a CloudEvent. */
  defaults: Mapping;
}

/** An event as `POST /events` takes it. */
export interface BridgedEvent {
  json: string;
  bytes: number;
  /** The parent of the event's trace, if its producer traces it. */
  traceparent: string | null;
}

/** `POST /events` takes 4 MiB, and the list around the event some characters. */
const EVENT_BYTES_MAX = 4 * 1024 * 1024 - 1_024;

const REQUIRED: ReadonlySet<Member> = new Set(["organization", "type", "data", "dedupe_key"]);

/** Returns the event that a message becomes. Throws `Unfit` with a reason that names all that is missing. */
export function toEvent(message: Message, { source, mapping, defaults }: Becoming): BridgedEvent {
  const document = new Document(message.body);
  const cloud = readCloudEvent(message.headers, document);
  const members: string[] = [];
  const missing: string[] = [];
  for (const member of MEMBERS) {
    const origin =
      mapping[member] ?? (cloud?.[member] === undefined ? defaults[member] : undefined);
    const read = origin === undefined ? cloud?.[member] : valueOf(origin, message, document);
    const value = isAbsent(member, read) ? fallback(member, message, source) : read;
    if (value !== undefined) members.push(`"${member}":${CONVERSIONS[member](value)}`);
    else if (REQUIRED.has(member)) missing.push(lacking(member, origin));
  }
  if (missing.length > 0) throw new Unfit(missing.join("; "));
  const json = `{${members.join(",")}}`;
  const bytes = Buffer.byteLength(json);
  if (bytes > EVENT_BYTES_MAX) throw new Unfit("the event is larger than 4 MiB");
  return { json, bytes, traceparent: parseTraceparent(message.headers.get("traceparent")) };
}

/** Returns JSON text. Undefined if the message lacks the value. */
function valueOf(origin: Origin, message: Message, document: Document): string | undefined {
  if ("constant" in origin) return origin.constant;
  if ("pointer" in origin) return document.at(origin.pointer);
  const text = "header" in origin ? message.headers.get(origin.header) : message.from[origin.from];
  return text === undefined ? undefined : JSON.stringify(text);
}

/** An empty key would be that of many messages, and all but the first one duplicates. */
function isAbsent(member: Member, read: string | undefined): read is undefined {
  return read === undefined || read === "null" || (member === "dedupe_key" && read === '""');
}

function fallback(member: Member, { identity }: Message, source: string): string | undefined {
  const isKnown = member === "dedupe_key" && identity !== null;
  return isKnown ? JSON.stringify(`${source}:${identity}`) : undefined;
}

/** What does not fit stays as it is, and the service says why it refuses it. */
const CONVERSIONS: Record<Member, (value: string) => string> = {
  organization: asText,
  type: asText,
  data: unwrapped,
  occurred_at: asTime,
  dedupe_key: asKey,
};

/** A number, such as the id of an organization, becomes the text of its digits. */
function asText(value: string): string {
  return /^-?[0-9]/.test(value) ? JSON.stringify(value) : value;
}

const UNITS_MS = [
  { digits: 11, ms: 1_000 },
  { digits: 14, ms: 1 },
  { digits: 17, ms: 1 / 1_000 },
  { digits: 20, ms: 1 / 1_000_000 },
];

/** An integer counts seconds, milliseconds, microseconds or nanoseconds since 1970, by its number of digits. */
function asTime(value: string): string {
  const digits = /^"?([0-9]{1,20})"?$/.exec(value)?.[1];
  const unit = UNITS_MS.find((one) => (digits?.length ?? Infinity) <= one.digits);
  return unit ? JSON.stringify(new Date(Number(digits) * unit.ms).toISOString()) : value;
}

/** A text that the service would refuse as a key is replaced by its digest. */
function asKey(value: string): string {
  const text = asText(value);
  if (!text.startsWith('"')) return text;
  const key = JSON.parse(text) as string;
  if (DEDUPE_KEY.test(key)) return text;
  return `"sha256:${createHash("sha256").update(key).digest("base64url")}"`;
}

function lacking(member: Member, origin: Origin | undefined): string {
  if (origin === undefined && member === "dedupe_key")
    return "the message has no identity: `event.dedupe_key` must say what identifies it";
  if (origin === undefined)
    return `${member} is not configured, and the message is not a CloudEvent that has it`;
  if ("pointer" in origin)
    return `${member}: the message has no ${origin.pointer.map((name) => `/${name}`).join("")}`;
  if ("header" in origin) return `${member}: the message has no header ${origin.header}`;
  return `${member}: the message has no ${"from" in origin ? origin.from : "value"}`;
}
