import {
  appendFileSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  type Stats,
} from "node:fs";
import { open } from "node:fs/promises";
// eslint-disable-next-line @typescript-eslint/no-restricted-imports -- Only `listen` loads this file.
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Clock } from "../lib/clock.ts";
import { withTimeLimit } from "../lib/time-limit.ts";
import { signatureHeaders } from "../webhook/sign.ts";
import type { Arrival } from "./arrival.ts";
import { envelopeIds } from "./judge.ts";
import type { Received } from "./receiver.ts";

/** Senders give up long before. */
const FORWARD_MS = 30_000;

/** They belong to the connection that a request came over. */
const OF_THE_CONNECTION = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "expect", "host", "content-length"],
]);

/** The parts of a received request that are forwarded. */
export type Forwarded = Pick<Received, "method" | "rawHeaders" | "body">;

/** Sends the same bytes and headers to another program. Resolves to the status of its answer, or to the code of the error. */
export type Forward = (request: Forwarded) => Promise<number | string>;

/** Requests that `stop` interrupts resolve to ABORT_ERR. */
export function createForward(target: URL, stop: AbortSignal): Forward {
  const start: typeof requestHttp = target.protocol === "https:" ? requestHttps : requestHttp;
  return ({ method, rawHeaders, body }) =>
    new Promise((resolve) => {
      const headers = forwardedHeaders(rawHeaders, target, body);
      const signal = withTimeLimit(FORWARD_MS, stop);
      const request = start(target, { method, headers, signal, agent: false }, (response) => {
        response.on("error", () => undefined).resume();
        resolve(response.statusCode ?? 0);
      });
      request.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      request.end(body);
    });
}

function forwardedHeaders(rawHeaders: string[], target: URL, body: Buffer): string[] {
  const kept = withoutHeaders(rawHeaders, OF_THE_CONNECTION);
  return [...kept, "Host", target.host, "Content-Length", String(body.length)];
}

/** `names` are in lower case. */
function withoutHeaders(rawHeaders: string[], names: ReadonlySet<string>): string[] {
  return rawHeaders.filter((_, i) => !names.has((rawHeaders[i - (i % 2)] ?? "").toLowerCase()));
}

/** The largest recording, in bytes. */
const RECORDING_BYTES_MAX = 64 * 1024 * 1024;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
/** Follows no link, and does not wait at a pipe. */
const SAFELY = O_NOFOLLOW | O_NONBLOCK;

interface Recording {
  /** Returns null, or once why the recording ends before this delivery: FULL, or the code of an error. */
  add(arrival: Arrival): string | null;
  close(): void;
}

export const FULL = "full";

/** Opens a recording, which only its owner can read: us. Further deliveries follow those that it has. */
export function openRecording(file: string): Recording {
  const descriptor = openSync(file, O_RDWR | O_APPEND | O_CREAT | SAFELY, 0o600);
  const found = fstatSync(descriptor);
  requireOurs(file, found);
  if ((found.mode & 0o077) !== 0) fchmodSync(descriptor, 0o600);
  let bytes = found.size;
  let separator = endsInMidLine(descriptor, bytes) ? "\n" : "";
  let hasEnded = false;
  return {
    add(arrival) {
      const cause = hasEnded ? null : append(arrival);
      if (cause !== null) hasEnded = true;
      return cause;
    },
    close: () => closeSync(descriptor),
  };

  function append({ at, method, path, rawHeaders, body }: Arrival): string | null {
    const line = { at, method, path, headers: rawHeaders, body_base64: body.toString("base64") };
    const text = Buffer.from(`${separator}${JSON.stringify(line)}\n`);
    if (bytes + text.length > RECORDING_BYTES_MAX) return FULL;
    try {
      appendFileSync(descriptor, text);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return code ?? message;
    }
    bytes += text.length;
    separator = "";
    return null;
  }
}

/** In a folder such as /tmp, another user may have laid out a file under the name. */
function requireOurs(file: string, found: Stats): void {
  if (!found.isFile() || found.nlink > 1)
    throw new Error(`${file} must be a regular file with one name`);
  if (process.geteuid && found.uid !== process.geteuid()) {
    throw new Error(`${file} belongs to another user`);
  }
}

/** A process that was killed may have left a part of a line. */
function endsInMidLine(descriptor: number, bytes: number): boolean {
  const last = Buffer.alloc(1);
  return bytes > 0 && readSync(descriptor, last, 0, 1, bytes - 1) === 1 && last.toString() !== "\n";
}

interface Recorded {
  deliveries: Forwarded[];
  /** The numbers of the lines that are no deliveries. */
  brokenLines: number[];
}

/** Returns the recorded deliveries in their order. Throws an error if the file has lines, but no delivery. */
export async function readRecording(file: string): Promise<Recorded> {
  const recorded: Recorded = { deliveries: [], brokenLines: [] };
  for (const [i, line] of (await readText(file)).split("\n").entries()) {
    const read = line === "" ? null : readLine(line);
    if (read !== null) recorded.deliveries.push(read);
    else if (line !== "") recorded.brokenLines.push(i + 1);
  }
  const [first] = recorded.brokenLines;
  if (first !== undefined && recorded.deliveries.length === 0) {
    throw new Error(`${file}, line ${first}: not a recorded delivery`);
  }
  return recorded;
}

/** Root reads only files of its own, because it may sign their content. */
async function readText(file: string): Promise<string> {
  const isRoot = process.geteuid?.() === 0;
  const handle = await open(file, O_RDONLY | (isRoot ? SAFELY : 0));
  try {
    const found = await handle.stat();
    if (isRoot) requireOurs(file, found);
    if (found.size > RECORDING_BYTES_MAX) throw new Error(`${file} has more than 64 MiB`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function readLine(line: string): Forwarded | null {
  try {
    const { method, headers, body_base64: body } = JSON.parse(line) as Record<string, unknown>;
    if (typeof method !== "string" || typeof body !== "string" || !areTexts(headers)) return null;
    return { method, rawHeaders: headers, body: Buffer.from(body, "base64") };
  } catch {
    return null;
  }
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** A delivery that was sent again. */
export interface Replayed {
  eventType: string | null;
  eventId: string | null;
  /** The status of the answer, or the code of an error. */
  answer: number | string;
}

/**
 * Sends the deliveries of a recording again, one after the other. With a secret they are signed anew, because receivers refuse old
 * timestamps. Reports and skips broken lines. Throws if any delivery is not accepted, or if `stop` comes before the end.
 */
export async function replay(
  file: string,
  options: { forward: Forward; secret: string | undefined; clock: Clock; stop: AbortSignal },
  report: { replayed(one: Replayed): void; brokenLine(line: number): void },
): Promise<void> {
  const { forward, secret, clock, stop } = options;
  const { deliveries, brokenLines } = await readRecording(file);
  for (const line of brokenLines) report.brokenLine(line);
  let refused = 0;
  for (const [answered, one] of deliveries.entries()) {
    const sent = secret === undefined ? one : signedAnew(one, secret, clock().getTime());
    const answer = await forward(sent);
    if (stop.aborted) {
      throw new Error(`stopped: ${answered} of ${deliveries.length} deliveries were answered`);
    }
    if (typeof answer === "string" || answer < 200 || answer > 299) refused++;
    const { event: eventType, id: eventId } = envelopeIds(one.body);
    report.replayed({ eventType, eventId, answer });
  }
  if (refused > 0) {
    throw new Error(`${refused} of ${deliveries.length} deliveries were not accepted`);
  }
}

function signedAnew(recorded: Forwarded, signingSecret: string, timestampMs: number): Forwarded {
  const { rawHeaders, body } = recorded;
  const eventId = envelopeIds(body).id ?? "";
  const signed = signatureHeaders({ signingSecret, eventId, timestampMs, body });
  const names = new Set(Object.keys(signed).map((name) => name.toLowerCase()));
  const kept = withoutHeaders(rawHeaders, names);
  return { ...recorded, rawHeaders: [...kept, ...Object.entries(signed).flat()] };
}
