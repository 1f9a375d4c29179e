import type { Binaries } from "./binaries.ts";
import type { Home } from "./home.ts";

/** The job of a keeper: the first line of its input, as JSON. Any second line tells it to detach. */
export type Job = ServeJob | RemoveJob;

export interface ServeJob extends Home {
  task: "serve";
  binaries: Binaries;
  /** Settings of the server in addition to ours. */
  settings: Record<string, string>;
}

export interface RemoveJob extends Home {
  task: "remove";
}

/** A line of a keeper's output, as JSON. When its work is done, it ends with status 0. */
export type Report =
  | { kind: "serving"; socketFolder: string }
  | { kind: "note"; text: string }
  | { kind: "failed"; text: string };

/** Longer texts are cut. */
export const TEXT_MAX = 1_000;

// Characters that need no quotes, and few enough for a socket's path.
const SOCKET_FOLDER = /^\/[\w./-]{1,100}$/;

/** Parses a line. Returns null if it is no report. The texts of a report are printable and short. */
export function parseReport(line: string): Report | null {
  const { kind, text, socketFolder } = parseObject(line);
  if (kind === "serving" && typeof socketFolder === "string" && SOCKET_FOLDER.test(socketFolder)) {
    return { kind, socketFolder };
  }
  if ((kind === "note" || kind === "failed") && typeof text === "string") {
    return { kind, text: printable(text) };
  }
  return null;
}

function parseObject(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Escapes characters that control a terminal or the direction of text. */
function printable(text: string): string {
  return text
    .slice(0, TEXT_MAX)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
