import { arrivalJson } from "./arrival-json.ts";
import type { Reporter } from "./reporter.ts";

/** Writes one JSON document per line. */
export function jsonReporter(write: (text: string) => void): Reporter {
  const line = (value: object) => write(`${JSON.stringify(value)}\n`);
  return {
    opened: ({ url, caFile }) => line({ type: "listening", url, ca_file: caFile }),
    arrived: (arrival) => line(arrivalJson(arrival)),
    gone: ({ eventId, attempt }, waitedMs) =>
      line({ type: "sender_gone", event_id: eventId, attempt, waited_ms: waitedMs }),
    noRequest: (code) => line({ type: "no_request", code }),
  };
}
