import type { Binaries } from "./binaries.ts";
import type { Home } from "./home.ts";

/** What a keeper is told first, in one line of JSON. A second line, whatever it says, tells it to detach. */
export type Job = ServeJob | RemoveJob;

export interface ServeJob extends Home {
  task: "serve";
  binaries: Binaries;
  /** The server's, on top of ours. */
  settings: Record<string, string>;
}

export interface RemoveJob extends Home {
  task: "remove";
}

/** What a keeper says, each in one line of JSON. When its work is done, it ends with status 0. */
export type Report =
  | { kind: "serving"; socketFolder: string }
  | { kind: "note"; text: string }
  | { kind: "failed"; text: string };

/** More of a text is not passed on. */
export const TEXT_MAX = 1_000;

// Not quoted anywhere, and short enough for a socket's path.
const SOCKET_FOLDER = /^\/[\w./-]{1,100}$/;

/** The report in a line, or null when it is none. Its texts are printable and short. */
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

/** With what could command a terminal, or turn a line round, spelled out. */
function printable(text: string): string {
  return text
    .slice(0, TEXT_MAX)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
