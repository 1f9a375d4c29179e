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
import type { Forwarded } from "./forward.ts";
import type { Arrival } from "./arrival.ts";

/** The largest recording, in bytes. */
const RECORDING_BYTES_MAX = 64 * 1024 * 1024;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
/** Follows no link, and does not wait at a pipe. */
const SAFELY = O_NOFOLLOW | O_NONBLOCK;

export interface Recording {
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
