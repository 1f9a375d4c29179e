import type { Egress } from "../egress/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { EventId, OrganizationId } from "../lib/ids.ts";
import type { Span } from "../lib/tracing.ts";
import type { Outcome } from "../subjects/deliveries/rules.ts";
import { signatureHeaders } from "../webhook/sign.ts";
import type { Responsiveness } from "./rules.ts";

export interface Post {
  url: string;
  eventId: EventId;
  /** As issued, with `whsec_`. */
  signingSecret: string;
  /** Default: one that all share. */
  organizationId?: OrganizationId;
  /** The number of this attempt. The first is number 1. */
  attempt: number;
  /** Sent byte for byte. */
  body: Uint8Array;
  /** Of the receiver. Default: `unknown`. */
  responsiveness?: Responsiveness;
  /** The attempt's, if it is traced. */
  span?: Span;
  /** Whether the receiver gets the span as `traceparent`. */
  tellsReceiver?: boolean;
}

/** Makes one attempt. Resolves within the time limit and never rejects. */
export type Send = (post: Post) => Promise<Outcome>;

interface SenderOptions {
  egress: Pick<Egress, "post">;
  clock: Clock;
  timeoutMs: number;
  userAgent: string;
}

/** Returns the function that sends signed deliveries. The limit of `timeoutMs` runs from the look-up to the head of the answer. */
export function createSender({ egress, clock, timeoutMs, userAgent }: SenderOptions): Send {
  return async (post) => {
    const { url, body, organizationId: group, responsiveness, span } = post;
    const outcome = await egress.post({
      url,
      body,
      timeoutMs, // Spreading objects here costs a tenth of a delivery.
      group,
      responsiveness,
      headers: () => headersOf(post),
      onStep: span && ((step) => stepOf(span, step)),
    });
    if (outcome.kind !== "answered") return outcome;
    const { httpStatus } = outcome;
    const isAcknowledged = httpStatus >= 200 && httpStatus < 300;
    return { kind: isAcknowledged ? "acknowledged" : "refused", httpStatus };
  };

  /** Call it as late as possible, because receivers compare the timestamp with their own clock. */
  function headersOf({ signingSecret, eventId, attempt, body, span, tellsReceiver }: Post) {
    const timestampMs = clock().getTime();
    return {
      "Content-Type": "application/json",
      "User-Agent": userAgent,
      ...signatureHeaders({ signingSecret, eventId, timestampMs, body }),
      "X-VC-Attempt": String(attempt),
      ...(span && tellsReceiver === true && { traceparent: span.traceparent }),
    };
  }
}

function stepOf(attempt: Span, name: string): (fault?: string) => void {
  const span = attempt.child(name);
  return (fault) => span.end(fault);
}
