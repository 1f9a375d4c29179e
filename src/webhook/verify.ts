/** The largest allowed difference between a delivery's timestamp and the receiver's clock. */
export const REPLAY_WINDOW_MS = 5 * 60_000;

/**
 * `malformed`: a header is missing, doubled or has the wrong form, or the body is not an event.
 * `stale`: the timestamp is more than 5 minutes from your clock. `forged`: not signed with your
 * secret.
 */
export type Verdict = "valid" | "malformed" | "stale" | "forged";

/** The `data` of each event type. */
export interface EventData {
  "vc.test.ping": { message: string };
}

/**
 * The body of a delivery. Narrow it by `event`. Event types newer than this library are returned
 * unchanged, so give a `switch` a `default`. The same `id` may arrive more than once: see
 * `handleOnce`.
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

/** `Headers` of Fetch, or any object whose `get` ignores letter case. */
export interface HeadersLike {
  get(name: string): string | null;
}

export interface Delivery {
  /** `whsec_…` as issued. While you rotate secrets, pass all of them. */
  secret: string | readonly string[];
  headers: HeadersLike | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body, before JSON parsing. A string stands for its UTF-8 bytes. */
  body: Uint8Array | ArrayBuffer | string;
  /** Your clock in milliseconds since the Unix epoch. For tests. */
  now?: number | undefined;
}

export type Verification =
  // Both members have `event`, so that callers can destructure before they check the verdict.
  | { verdict: "valid"; event: ReceivedEvent }
  | { verdict: Exclude<Verdict, "valid">; event?: undefined };

const SCHEME = "sha256=";

const PASS_THEM = "Pass request.headers, of Fetch or of Node.js";

const READ_IT =
  "with express.raw({ type: () => true }) on the route in Express, a content type parser with " +
  'parseAs "buffer" in Fastify, rawBody: true in NestJS, await c.req.arrayBuffer() in Hono, await request.arrayBuffer() of ' +
  "a Fetch Request, await buffer(request) from node:stream/consumers in Node.js";

const IN_BASE64 =
  "verify needs the raw bytes of the request body, but got them in base64: decode them first, in " +
  "AWS Lambda if event.isBase64Encoded";

/**
 * Verifies a delivery and reads its event. Respond with 2xx to `valid` and with 400 to anything
 * else.
 *
 * A signed body that is not an event is `malformed`. Throws a TypeError only for mistakes in the
 * receiving program, such as a parsed body, a missing secret or headers that were not awaited. A
 * delivery cannot cause one, except a genuine one that was sent again in base64.
 */
export async function verify(delivery: Delivery): Promise<Verification> {
  const verdict = await verifySignature(delivery);
  if (verdict !== "valid") return { verdict };
  const event = readEvent(rawBytes(delivery.body));
  return event === null ? { verdict: "malformed" } : { verdict, event };
}

/** Verifies only headers and signature. The body may be any bytes. */
export async function verifySignature(delivery: Delivery): Promise<Verdict> {
  if (!isObject(delivery))
    throw new TypeError("verify needs one object: { secret, headers, body }");
  const secrets = usableSecrets(delivery.secret);
  const headers = readableHeaders(delivery.headers);
  const body = rawBytes(delivery.body);
  const now = milliseconds(delivery.now);

  const signature = oneHeader(headers, "x-vc-signature");
  const timestamp = oneHeader(headers, "x-vc-timestamp");
  if (!signature?.startsWith(SCHEME)) return "malformed";
  if (timestamp === null || !/^[0-9]{1,15}$/.test(timestamp)) return "malformed";

  const isFresh = Math.abs(now - Number(timestamp)) <= REPLAY_WINDOW_MS;
  if (!isFresh) {
    refuseSeconds(now, Number(timestamp));
    return "stale";
  }

  const head = new TextEncoder().encode(`${timestamp}.`);
  const isGenuine = (bytes: Uint8Array) =>
    isSignedWithAny(secrets, join(head, bytes), signature.slice(SCHEME.length));
  if (await isGenuine(body)) return "valid";
  refuseChangedBody(headers, delivery.body);
  const decoded = fromBase64(body);
  if (decoded !== null && (await isGenuine(decoded))) throw new TypeError(IN_BASE64);
  return "forged";
}

function usableSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === "string" ? [secret] : secret;
  // With an empty key, anybody could sign. An unset environment variable would give one.
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isNonEmptyString)) {
    throw new TypeError("verify needs the subscription's signing secret (whsec_…)");
  }
  if (secrets.some((one) => /^[\s"'`]|[\s"'`]$/.test(one))) {
    throw new TypeError(
      "verify needs the signing secret as issued, but white space or a quote surrounds it: trim " +
        "what you read from a file or a variable",
    );
  }
  if (!secrets.every((one) => /^whsec_[^\s,]+$/.test(one))) {
    throw new TypeError(
      "verify needs the signing secret as issued, from whsec_ to its end. While you rotate " +
        "secrets, pass an array of them",
    );
  }
  return secrets;
}

function milliseconds(now: unknown): number {
  if (now === undefined || now === null) return Date.now();
  if (typeof now === "number" && Number.isFinite(now)) return now;
  const kind = typeof now === "number" ? now : `a ${typeof now}`;
  throw new TypeError(`verify needs \`now\` in milliseconds since the Unix epoch, but got ${kind}`);
}

/** No timestamp has enough digits to look like this to a clock in milliseconds. */
function refuseSeconds(now: number, timestamp: number): void {
  const isInSeconds = Math.abs(now * 1000 - timestamp) <= REPLAY_WINDOW_MS;
  if (!isInSeconds) return;
  throw new TypeError("verify needs `now` in milliseconds since the Unix epoch, but got seconds");
}

function rawBytes(body: unknown): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  if (isArrayBuffer(body)) return new Uint8Array(body);
  throw new TypeError(`verify needs the raw bytes of the request body, but ${problemOf(body)}`);
}

/** Returns the fault of the body, and how to read raw bytes. */
function problemOf(body: unknown): string {
  if (body === undefined || body === null) return `the body is missing. Read it ${READ_IT}`;
  if (typeof body !== "object") return `got a ${typeof body}. Read the body ${READ_IT}`;
  if ("then" in body) return "got a promise: await it";
  if ("getReader" in body || "pipe" in body || "arrayBuffer" in body) {
    return `the body was not read. Read it ${READ_IT}`;
  }
  return (
    "the body was already parsed. Serialized again, it has different bytes than the signed ones. " +
    `Read it before any JSON middleware, ${READ_IT}`
  );
}

/** Returns null if the body is not base64. A JSON object begins with `e` there. */
function fromBase64(body: Uint8Array): Uint8Array | null {
  const text = new TextDecoder().decode(body);
  if (!/^e[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  return Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
}

function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return tagOf(value) === "ArrayBuffer";
}

/** `instanceof` fails for objects of another realm, such as a test runner's sandbox. */
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** A server passes as many bytes as `content-length` says, so a delivery cannot cause this. */
function refuseChangedBody(headers: Delivery["headers"], body: Delivery["body"]): void {
  const bytes = rawBytes(body);
  const length = oneHeader(headers, "content-length");
  const isEncoded = ["content-encoding", "transfer-encoding"].some(
    (name) => valuesOf(headers, name).join("") !== "", // Koa returns "" for a missing header.
  );
  if (isEncoded || !/^[0-9]{1,15}$/.test(length ?? "")) return;
  const isSpent = bytes.length === 0 || new TextDecoder().decode(bytes) === "[object Object]";
  const hasGrown = bytes.length > Number(length) && !mayGrow(headers, body);
  if (!(isSpent || hasGrown) || Number(length) === bytes.length) return;
  throw new TypeError(
    `verify needs the raw bytes of the request body, but got ${bytes.length} where ${length} arrived: ` +
      `the body was read, decoded or parsed before. Read it once, ${READ_IT}`,
  );
}

/** Decoded, a body that is not UTF-8 may have more bytes than arrived. The sender chooses that. */
function mayGrow(headers: Delivery["headers"], body: Delivery["body"]): boolean {
  if (typeof body !== "string") return false;
  const isInUtf8 = valuesOf(headers, "content-type").every((type) =>
    /^(?!.*charset)|charset="?utf-?8/i.test(type),
  );
  return body.includes("\uFFFD") || !isInUtf8;
}

function readableHeaders(headers: unknown): Delivery["headers"] {
  const problem = problemOfHeaders(headers);
  if (problem !== null) throw new TypeError(`verify needs the request's headers, but ${problem}`);
  return tagOf(headers) === "Map"
    ? Object.fromEntries(headers as Map<string, string>)
    : (headers as Delivery["headers"]);
}

/** The values of headers are texts, so no delivery can look like one of these. */
function problemOfHeaders(headers: unknown): string | null {
  if (headers === undefined || headers === null) return `they are missing. ${PASS_THEM}`;
  if (Array.isArray(headers)) return `got an array. ${PASS_THEM}, or Object.fromEntries(pairs)`;
  if (!isObject(headers)) return `got a ${typeof headers}. ${PASS_THEM}`;
  if (isFunction(headers["then"])) return "got a promise: await it, as await headers()";
  if (tagOf(headers) === "Map") return null;

  const hasGet = isFunction(headers["get"]);
  if (isObject(headers["headers"])) return hasGet ? null : `got the whole request. ${PASS_THEM}`;
  if (isObject(headers["req"]) || isObject(headers["request"])) {
    return "got the framework's context. Pass the headers of its request";
  }
  // Headers of some runtimes have `getAll` too, but cookies cannot be appended.
  if (hasGet && isFunction(headers["getAll"]) && !isFunction(headers["append"])) {
    return `got cookies. ${PASS_THEM}`;
  }
  if (["FormData", "URLSearchParams"].includes(tagOf(headers)) || ArrayBuffer.isView(headers)) {
    return `got a ${tagOf(headers)}. ${PASS_THEM}`;
  }
  const [name] = hasGet ? [] : Object.keys(headers).filter((key) => isObject(headers[key]));
  return name === undefined ? null : `their ${name} is an object, not a text. ${PASS_THEM}`;
}

/** The value of a header, or null if it is missing or occurs more than once. */
function oneHeader(headers: Delivery["headers"], name: string): string | null {
  const values = valuesOf(headers, name);
  const [value] = values;
  // Servers join repeated headers with a comma. Neither of our headers contains one.
  return values.length === 1 && value !== undefined && !value.includes(",") ? value : null;
}

function valuesOf(headers: Delivery["headers"], name: string): string[] {
  const values: unknown[] = isHeadersLike(headers)
    ? [headers.get(name) ?? []].flat()
    : Object.keys(headers)
        .filter((key) => key.toLowerCase() === name)
        .flatMap((key) => headers[key] ?? []);
  return values.map((value) => {
    if (typeof value === "string") return value;
    throw new TypeError(`verify needs ${name} as the text that arrived, but got a ${typeof value}`);
  });
}

function isHeadersLike(headers: Delivery["headers"]): headers is HeadersLike {
  return typeof headers["get" as keyof typeof headers] === "function";
}

async function isSignedWithAny(
  secrets: readonly string[],
  message: Uint8Array<ArrayBuffer>,
  hex: string,
) {
  if (!/^[0-9a-f]{64}$/.test(hex)) return false;
  const signature = Uint8Array.from({ length: 32 }, (_, i) =>
    parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
  const answers = await Promise.all(
    secrets.map((secret) => isSignedWith(secret, message, signature)),
  );
  return answers.includes(true);
}

/** Web Crypto compares in constant time, as its specification requires. */
async function isSignedWith(
  secret: string,
  message: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
) {
  const { subtle } = globalThis.crypto;
  const bytes = new TextEncoder().encode(secret);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
  return subtle.verify("HMAC", key, signature, message);
}

function join(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
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

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
