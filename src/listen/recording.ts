import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { Forwarded } from "./forward.ts";
import type { Arrival } from "./arrival.ts";

/** A recording has at most so many bytes. */
const RECORDING_BYTES_MAX = 64 * 1024 * 1024;

export interface Recording {
  /** Returns false if the recording is full. */
  add(arrival: Arrival): boolean;
  close(): void;
}

/** Opens a recording, which only its owner can read. Further deliveries follow those that it has. */
export function openRecording(file: string): Recording {
  const descriptor = openSync(file, "a", 0o600);
  let bytes = fstatSync(descriptor).size;
  return {
    add({ at, method, path, rawHeaders, body }) {
      const line = { at, method, path, headers: rawHeaders, body_base64: body.toString("base64") };
      const text = `${JSON.stringify(line)}\n`;
      if (bytes + text.length > RECORDING_BYTES_MAX) return false;
      bytes += writeSync(descriptor, text);
      return true;
    },
    close: () => closeSync(descriptor),
  };
}

/** Returns the recorded deliveries in their order. Throws an error that names the first bad line. */
export async function readRecording(file: string): Promise<Forwarded[]> {
  const { size } = await stat(file);
  if (size > RECORDING_BYTES_MAX) throw new Error(`${file} has more than 64 MiB`);
  const lines = (await readFile(file, "utf8")).split("\n");
  return lines.flatMap((line, i) => {
    if (line === "") return [];
    const read = readLine(line);
    if (read === null) throw new Error(`${file}, line ${i + 1}: not a recorded delivery`);
    return [read];
  });
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
