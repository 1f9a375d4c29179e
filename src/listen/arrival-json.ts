import { isUtf8 } from "node:buffer";
import type { Arrival } from "./arrival.ts";

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
