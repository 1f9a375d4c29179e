import { printable } from "../commands/printable.ts";
import type { Paint } from "../commands/paint.ts";
import { formatDuration } from "../domain/duration.ts";
import type { Reply } from "../receiver/receiver.ts";
import type { Arrival } from "./arrival.ts";

const INDENT = "   ";

const RULE = "─".repeat(64);

/** What each verdict looks like, and what a bad one comes from. */
const VERDICTS = {
  valid: { sign: "✔", style: "green", why: null },
  unverified: { sign: "·", style: "yellow", why: null },
  malformed: {
    sign: "✘",
    style: "red",
    why: "a header is missing, doubled or misshapen, or the body is no event",
  },
  stale: { sign: "✘", style: "red", why: "its timestamp is over 5 minutes from this clock" },
  forged: { sign: "✘", style: "red", why: "not signed with the secret that was given" },
} as const;

/** An arrival for people: what it came to in one line, then all that was sent. */
export function arrivalText(arrival: Arrival, paint: Paint): string {
  const { method, path, at, verdict, attempt, eventType, reply, body } = arrival;
  const { sign, style, why } = VERDICTS[verdict];
  const title = [
    paint(style, `${sign} ${verdict}`),
    paint("bold", printable(eventType ?? "no event")),
    `attempt ${attempt}`,
    `→ ${replyText(reply, paint)}`,
  ].join("  ");
  const lines = [
    title,
    ...(why === null ? [] : [paint("dim", why)]),
    "",
    `${method} ${printable(path)}`,
    ...headersOf(arrival).map(([name, value]) => `${paint("dim", `${name}:`)} ${value}`),
    "",
    ...bodyLines(body),
  ];
  const rule = paint("dim", `── ${at.toISOString().slice(11, 23)}Z ${RULE}`);
  return ["", rule, ...lines.map((line) => (line === "" ? "" : INDENT + line)), ""].join("\n");
}

/** What the sender sees of the reply. */
export function replyText({ status, delayMs }: Reply, paint: Paint): string {
  const isSuccess = status !== null && status < 300;
  const what = paint(isSuccess ? "green" : "red", status === null ? "dropped" : String(status));
  return delayMs === 0 ? what : `${what} after ${formatDuration(delayMs)}`;
}

function headersOf({ rawHeaders }: Arrival): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
    printable(rawHeaders[2 * i] ?? ""),
    printable(rawHeaders[2 * i + 1] ?? ""),
  ]);
}

/** JSON is laid out; the bytes themselves, which alone were signed, have no line breaks. */
function bodyLines(body: Buffer): string[] {
  const text = body.toString("utf8");
  try {
    return JSON.stringify(JSON.parse(text), null, 2).split("\n").map(printable);
  } catch {
    return text.split("\n").map(printable);
  }
}
