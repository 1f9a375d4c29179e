import { publicId } from "../lib/ids.ts";
import type { Span, Tracer } from "../lib/tracing.ts";
import { auditOf, type Claim, type Outcome } from "../subjects/deliveries/rules.ts";

/** Starts the span of an attempt, in the trace of the event. Null if nothing is traced. */
export function startAttempt(tracer: Tracer, claim: Claim): Span | null {
  const span = tracer.start("attempt", { kind: "client", parent: claim.traceparent });
  if (span === null) return null;
  const { hostname, port } = new URL(claim.url);
  span.set({
    "messaging.system": "partner_api",
    "messaging.operation.type": "process",
    "messaging.operation.name": "attempt",
    "messaging.destination.name": claim.type,
    "messaging.message.id": publicId("evt", claim.eventId),
    "http.request.method": "POST",
    "server.address": hostname,
    "server.port": Number(port) || 443,
    "partner_api.attempt": claim.attempts + 1,
    "partner_api.delivery_id": publicId("dlv", claim.id),
    "partner_api.subscription_id": publicId("wh", claim.subscriptionId),
    "partner_api.organization_id": publicId("org", claim.organizationId),
  });
  return span;
}

export function endAttempt(span: Span, outcome: Outcome): void {
  if (outcome.kind === "acknowledged" || outcome.kind === "refused")
    span.set({ "http.response.status_code": outcome.httpStatus });
  span.end(faultOf(outcome));
}

function faultOf(outcome: Outcome): string | undefined {
  if (outcome.kind === "internal-fault") return outcome.fault;
  if (outcome.kind === "deferred") return "deferred";
  return auditOf(outcome).reason ?? undefined;
}
