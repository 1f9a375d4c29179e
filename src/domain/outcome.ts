import { DETAILS, type FailureDetail } from "../egress/index.ts";

/** Why an attempt failed if the receiver returned no status. */
export const FAILURE_REASONS = [
  "timeout",
  "dns_error",
  "address_not_public",
  "connection_refused",
  "connection_reset",
  "tls_error",
  "network_error",
  "protocol_error",
  "interrupted",
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** What there is to add to a reason. Partners see it as `detail`. */
export const FAILURE_DETAILS: readonly FailureDetail[] = Object.values(DETAILS).flat();

/**
 * The result of one attempt. Failures are expected, so they are values and not exceptions.
 * `internal-fault` does not count as an attempt, and the delivery waits a minute. `deferred` does not
 * count either: there was no room for the attempt, and the delivery waits a second.
 */
export type Outcome =
  | { kind: "acknowledged"; httpStatus: number }
  | { kind: "refused"; httpStatus: number }
  | { kind: "unreachable"; reason: FailureReason; detail?: FailureDetail | null }
  | { kind: "internal-fault"; fault: InternalFault; error?: unknown }
  | { kind: "deferred" };

/**
 * Internal faults: the conditions on our side that stop an attempt.
 *
 * Partners must not be able to cause one by a URL, name, address, certificate, answer or number of requests. If an error has
 * two possible causes, our own side must confirm the fault (`LocalChecks`, the resolver's probe). `unexpected` is an unforeseen
 * exception. Only a defect in our code raises it.
 */
export const INTERNAL_FAULTS = [
  "no_resolver",
  "no_descriptors",
  "no_ports",
  "no_route",
  "secret_sealed",
  "lease_spent",
  "unexpected",
  "stopping",
] as const;

export type InternalFault = (typeof INTERNAL_FAULTS)[number];
