import { printable } from "../commands/printable.ts";
import type { Paint } from "../commands/paint.ts";
import { formatDuration } from "../domain/duration.ts";
import type { Reply } from "../receiver/receiver.ts";
import type { Arrival } from "./arrival.ts";

const INDENT = "   ";

const RULE = "─".repeat(64);

/** How each verdict is shown, with an explanation of the bad ones. */
const VERDICTS = {
  valid: { sign: "✔", style: "green", why: null },
  unverified: { sign: "·", style: "yellow", why: null },
  malformed: {
    sign: "✘",
    style: "red",
    why: "a header is missing, doubled or has the wrong form, or the body is not an event",
  },
  stale: {
    sign: "✘",
    style: "red",
    why: "the timestamp is more than 5 minutes from this machine's clock",
  },
  forged: { sign: "✘", style: "red", why: "not signed with the given secret" },
} as const;

/** An arrival as text: a summary line, then the whole request. */
export function arrivalText(arrival: Arrival, paint: Paint): string {
  const { method, path, at, verdict, attempt, eventType, dataFaults, body } = arrival;
  const { sign, style, why } = VERDICTS[verdict];
  const title = [
    paint(style, `${sign} ${verdict}`),
    paint("bold", printable(eventType ?? "no event")),
    `attempt ${attempt}`,
    `→ ${answerText(arrival, paint)}`,
  ].join("  ");
  const lines = [
    title,
    ...(why === null ? [] : [paint("dim", why)]),
    ...(dataFaults ?? []).map((fault) => paint("red", printable(fault))),
    "",
    `${method} ${printable(path)}`,
    ...headersOf(arrival).map(([name, value]) => `${paint("dim", `${name}:`)} ${value}`),
    "",
    ...bodyLines(body),
  ];
  const rule = paint("dim", `── ${at.toISOString().slice(11, 23)}Z ${RULE}`);
  return ["", rule, ...lines.map((line) => (line === "" ? "" : INDENT + line)), ""].join("\n");
}

function answerText({ reply, forwardedTo, forwardError }: Arrival, paint: Paint): string {
  const answer = replyText(reply, paint);
  if (forwardedTo === null) return answer;
  if (forwardError === null) return `${answer} from ${forwardedTo}`;
  return `${answer}, because ${forwardedTo} did not answer: ${printable(forwardError)}`;
}

/** The reply as text. */
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

/** Indents JSON for reading. The signature covers the raw bytes. */
function bodyLines(body: Buffer): string[] {
  const text = body.toString("utf8");
  try {
    JSON.parse(text);
    return indentJson(text).split("\n").map(printable);
  } catch {
    return text.split("\n").map(printable);
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Indents a JSON text without parsing it, which would change its numbers and drop members that occur twice. */
function indentJson(text: string): string {
  let indented = "";
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  const tokens = text.match(TOKEN) ?? [];
  for (const [i, token] of tokens.entries()) {
    const isFirst = tokens[i - 1] === "{" || tokens[i - 1] === "[";
    if (token === "}" || token === "]") {
      depth--;
      indented += isFirst ? token : line() + token;
      continue;
    }
    if (isFirst) indented += line();
    indented += token;
    if (token === "{" || token === "[") depth++;
    else if (token === ",") indented += line();
    else if (token === ":") indented += " ";
  }
  return indented;
}
