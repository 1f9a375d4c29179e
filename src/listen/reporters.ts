import { isUtf8 } from "node:buffer";
import type { Paint } from "../commands/output.ts";
import { formatDuration } from "../lib/duration.ts";
import { printable, printableJson } from "../lib/printable.ts";
import type { Arrival } from "./arrival.ts";
import { quoted } from "./certificates.ts";
import type { ListenOptions } from "./command.ts";
import { ACCEPTED, type Reply, replyTo } from "./receiver.ts";
import { FULL, type Replayed } from "./replay.ts";

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
function replyText({ status, delayMs }: Reply, paint: Paint): string {
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

/** Writes one JSON document per line. */
export function jsonReporter(write: (text: string) => void): Reporter {
  const line = (value: object) => write(`${printableJson(JSON.stringify(value))}\n`);
  return {
    opened: ({ url, caFile, trustCommand }) =>
      line({ type: "listening", url, ca_file: caFile, trust_command: trustCommand }),
    arrived: (arrival) => line(arrivalJson(arrival)),
    gone: ({ eventId, attempt }, waitedMs) =>
      line({ type: "sender_gone", event_id: eventId, attempt, waited_ms: waitedMs }),
    noRequest: (code) => line({ type: "no_request", code }),
    learned: (secrets) => line({ type: "secret", accepted: secrets !== null, secrets }),
    recordingEnded: (cause) =>
      line(cause === FULL ? { type: "recording_full" } : { type: "recording_failed", code: cause }),
    brokenLine: (number) => line({ type: "broken_line", line: number }),
    replayed: ({ eventType, eventId, answer }) =>
      line({ type: "replayed", event_type: eventType, event_id: eventId, answer }),
  };
}

/** An arrival as JSON. A body that is not UTF-8 is included as base64. */
export function arrivalJson(arrival: Arrival): object {
  const { at, method, path, verdict, attempt, eventType, eventId, headers, body, reply } = arrival;
  return {
    type: "delivery",
    received_at: at.toISOString(),
    method,
    path,
    verdict,
    event_type: eventType,
    event_id: eventId,
    attempt,
    ...(arrival.dataFaults === null ? {} : { data_faults: arrival.dataFaults }),
    headers,
    ...(isUtf8(body) ? { body: body.toString("utf8") } : { body_base64: body.toString("base64") }),
    ...(arrival.forwardedTo === null ? {} : { forwarded_to: arrival.forwardedTo }),
    ...(arrival.forwardError === null ? {} : { forward_error: arrival.forwardError }),
    answer: { status: reply.status, delay_ms: reply.delayMs },
  };
}

/** Shows what happens at a receiver. */
export interface Reporter {
  opened(receiver: { url: string; caFile: string; trustCommand: string }): void;
  arrived(arrival: Arrival): void;
  /** The sender closed the connection before the reply. */
  gone(arrival: Arrival, waitedMs: number): void;
  /** A connection brought no request. `code` is null if it was closed without an error. */
  noRequest(code: string | null): void;
  /** A secret was read while the receiver runs; `secrets` verify now. Null: the text was no secret. */
  learned(secrets: number | null): void;
  /** Later deliveries are not recorded. The cause is FULL, or the code of an error. */
  recordingEnded(cause: string): void;
  /** A line of the recording is not a delivery. */
  brokenLine(line: number): void;
  replayed(replayed: Replayed): void;
}

/** Writes text for people. */
export function textReporter(
  write: (text: string) => void,
  paint: Paint,
  { secrets, behaviour, forwardTo }: Pick<ListenOptions, "secrets" | "behaviour" | "forwardTo">,
): Reporter {
  const remark = (text: string) => write(`\n${paint("yellow", `! ${text}`)}\n`);

  return {
    opened({ url, caFile, trustCommand }) {
      const fact = (name: string, value: string) => `  ${paint("dim", name.padEnd(11))}${value}\n`;
      write(
        `\n${paint("bold", "Receiving deliveries")}, until Ctrl-C\n\n` +
          fact("URL", paint("bold", url)) +
          fact("Verifies", verifies()) +
          fact("Answers", answers()) +
          `\nTo deliver here, start a service on this machine with\n\n` +
          `  EGRESS_ALLOW=127.0.0.1/32,::1/128 \\\n  EGRESS_CA_FILE=${quoted(caFile)}\n` +
          `\nTo let browsers and curl accept the certificate, run once\n\n  ${trustCommand}\n`,
      );
    },
    arrived: (arrival) => write(arrivalText(arrival, paint)),
    gone: ({ eventId, attempt }, waitedMs) =>
      remark(
        `the sender closed the connection after ${(waitedMs / 1000).toFixed(1)} s: ` +
          `attempt ${attempt} of ${printable(eventId ?? "no event")}`,
      ),
    noRequest: (code) => remark(explain(code)),
    learned: (count) =>
      remark(
        count === null
          ? "not a signing secret: a secret starts with whsec_"
          : `verifying with ${countOf(count)} now`,
      ),
    recordingEnded: (cause) => {
      const why = cause === FULL ? "is full" : `cannot be written (${printable(cause)})`;
      remark(`the recording ${why}: nothing more is recorded`);
    },
    brokenLine: (line) => remark(`line ${line} of the recording is broken: skipped`),
    replayed({ eventType, eventId, answer }) {
      const isAccepted = typeof answer === "number" && answer >= 200 && answer < 300;
      const what = [eventType ?? "no event", eventId ?? ""].map(printable).join("  ");
      write(`${paint(isAccepted ? "green" : "red", String(answer))}  ${what}\n`);
    },
  };

  function verifies(): string {
    if (secrets.length === 0)
      return paint("yellow", "nothing yet: paste the signing secret (whsec_…) here");
    return `with ${countOf(secrets.length)}`;
  }

  function answers(): string {
    const { attempts } = behaviour;
    const first = replyText(replyTo(1, behaviour), paint);
    const accepted =
      forwardTo === null ? replyText(ACCEPTED, paint) : `what ${forwardTo.href} answers`;
    if (attempts === Infinity) {
      return `every attempt: ${forwardTo === null ? first : accepted}`;
    }
    const which = attempts === 1 ? "first attempt" : `first ${attempts} attempts`;
    return `${which} of each event: ${first}; then ${accepted}`;
  }
}

function explain(code: string | null): string {
  if (code === "ERR_SSL_HTTP_REQUEST")
    return "received a request over plain HTTP: use the https URL";
  const how = code === null ? "" : ` (${code})`;
  return `a connection sent no request${how}: does the sender's EGRESS_CA_FILE name the file above?`;
}

function countOf(secrets: number): string {
  return secrets === 1 ? "one secret" : `any of ${secrets} secrets`;
}
