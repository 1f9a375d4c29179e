/** How far a delivery's timestamp may lie from the receiver's clock, in either direction. */
export const REPLAY_WINDOW_MS = 5 * 60_000;

/**
 * `malformed`: not the form of a delivery of ours (a header missing, doubled or misshapen).
 * `stale`: sent too long ago, or by a clock too far ahead. `forged`: not signed with your secret.
 */
export type Verdict = "valid" | "malformed" | "stale" | "forged";

/** What `data` holds, for each type of event. */
export interface EventData {
  "vc.test.ping": { message: string };
}

/**
 * The body of a delivery: narrow it by `event`. A type that is newer than this library is passed on
 * as it came, so give a `switch` a `default`. The same `id` may arrive more than once: `handleOnce`.
 */
export type ReceivedEvent<Type extends keyof EventData = keyof EventData> = {
  [T in Type]: {
    event: T;
    id: string;
    subscription_id: string;
    /** ISO 8601, UTC. */
    occurred_at: string;
    data: EventData[T];
  };
}[Type];

/** Fetch's `Headers`, or anything that looks headers up in any letter case. */
export interface HeadersLike {
  get(name: string): string | null;
}

export interface Delivery {
  /** `whsec_…` as issued. Several while you change secrets: any of them may have signed. */
  secret: string | readonly string[];
  headers: HeadersLike | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body, before any JSON parsing; a string counts as its UTF-8 bytes. */
  body: Uint8Array | ArrayBuffer | string;
  /** Your clock in milliseconds since the Unix epoch, for tests. */
  now?: number | undefined;
}

export type Verification =
  // `event` on both sides, so that it can be taken out before the verdict is looked at.
  | { verdict: "valid"; event: ReceivedEvent }
  | { verdict: Exclude<Verdict, "valid">; event?: undefined };

const SCHEME = "sha256=";

const READ_IT =
  "with express.raw({ type: () => true }) on the route in Express, a content type parser with " +
  'parseAs "buffer" in Fastify, await c.req.arrayBuffer() in Hono, await request.arrayBuffer() of ' +
  "a Fetch Request, await buffer(request) from node:stream/consumers in Node.js";

/**
 * Checks a received delivery and reads its event. Answer `valid` with 2xx, the rest with 400.
 *
 * A body that is signed and yet no event is `malformed`. Throws a TypeError only for mistakes in the
 * receiving program, which no delivery can cause: a body that was parsed already, no secret.
 */
export async function verify(delivery: Delivery): Promise<Verification> {
  const verdict = await verifySignature(delivery);
  if (verdict !== "valid") return { verdict };
  const event = readEvent(rawBytes(delivery.body));
  return event === null ? { verdict: "malformed" } : { verdict, event };
}

/** What `verify` says before it reads the body: any bytes can be signed. */
export async function verifySignature(delivery: Delivery): Promise<Verdict> {
  const secrets = usableSecrets(delivery.secret);
  const body = rawBytes(delivery.body);
  const now = delivery.now ?? Date.now();

  const signature = oneHeader(delivery.headers, "x-vc-signature");
  const timestamp = oneHeader(delivery.headers, "x-vc-timestamp");
  if (!signature?.startsWith(SCHEME)) return "malformed";
  if (timestamp === null || !/^[0-9]{1,15}$/.test(timestamp)) return "malformed";

  // Written so that a clock that is not a number lets nothing through.
  const isFresh = Math.abs(now - Number(timestamp)) <= REPLAY_WINDOW_MS;
  if (!isFresh) return "stale";

  const message = join(new TextEncoder().encode(`${timestamp}.`), body);
  const isGenuine = await isSignedWithAny(secrets, message, signature.slice(SCHEME.length));
  return isGenuine ? "valid" : "forged";
}

function usableSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === "string" ? [secret] : secret;
  // An empty key would let anybody sign, and is what an unset environment variable looks like.
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isNonEmptyString)) {
    throw new TypeError("verify needs the subscription's signing secret (whsec_…)");
  }
  return secrets;
}

function rawBytes(body: unknown): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  if (isArrayBuffer(body)) return new Uint8Array(body);
  throw new TypeError(`verify needs the raw bytes of the request body, but ${whatElse(body)}`);
}

/** What stands in the place of the bytes, and how to get at them. */
function whatElse(body: unknown): string {
  if (body === undefined || body === null) return `there is none: ${READ_IT}`;
  if (typeof body !== "object") return `this is a ${typeof body}: ${READ_IT}`;
  if ("then" in body) return "this is a promise: await it";
  if ("getReader" in body || "pipe" in body || "arrayBuffer" in body) {
    return `this has yet to be read: ${READ_IT}`;
  }
  return (
    "this was parsed already: written as JSON again it has other bytes than those that were " +
    `signed, so read it before any JSON middleware does: ${READ_IT}`
  );
}

/** Not `instanceof`, which fails for a buffer of another realm (a test runner's sandbox, say). */
function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === "[object ArrayBuffer]";
}

/** The header's one value; null when it is missing or there are several. */
function oneHeader(headers: Delivery["headers"], name: string): string | null {
  const values = isHeadersLike(headers)
    ? [headers.get(name) ?? []].flat()
    : Object.keys(headers)
        .filter((key) => key.toLowerCase() === name)
        .flatMap((key) => headers[key] ?? []);

  const [value] = values;
  // Servers join repeated headers with a comma, which neither of ours contains.
  return values.length === 1 && value !== undefined && !value.includes(",") ? value : null;
}

function isHeadersLike(headers: Delivery["headers"]): headers is HeadersLike {
  return typeof headers["get" as keyof typeof headers] === "function";
}

async function isSignedWithAny(secrets: readonly string[], message: Uint8Array, hex: string) {
  if (!/^[0-9a-f]{64}$/.test(hex)) return false;
  const signature = Uint8Array.from({ length: 32 }, (_, i) =>
    parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
  const answers = await Promise.all(
    secrets.map((secret) => isSignedWith(secret, message, signature)),
  );
  return answers.includes(true);
}

/** Web Crypto compares in constant time, as its standard demands. */
async function isSignedWith(secret: string, message: Uint8Array, signature: Uint8Array) {
  const { subtle } = globalThis.crypto;
  const bytes = new TextEncoder().encode(secret);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
  return subtle.verify("HMAC", key, signature, message);
}

function join(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function readEvent(body: Uint8Array): ReceivedEvent | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const value: unknown = JSON.parse(text);
    return isEvent(value) ? value : null;
  } catch {
    return null;
  }
}

function isEvent(value: unknown): value is ReceivedEvent {
  if (!isObject(value)) return false;
  const texts = [value["event"], value["id"], value["subscription_id"], value["occurred_at"]];
  return texts.every(isNonEmptyString) && isObject(value["data"]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
