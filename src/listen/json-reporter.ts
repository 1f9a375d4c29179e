import { isUtf8 } from "node:buffer";
import { printableJson } from "../commands/printable.ts";
import type { Arrival } from "./arrival.ts";
import { FULL } from "./recording.ts";
import type { Reporter } from "./reporter.ts";

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
