/** Why an attempt failed when the receiver returned no status. Never says more than this to a partner. */
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

/**
 * What one attempt came to. A failed attempt is an expected result, so it is a value, not a throw.
 * `our-fault` is no attempt at all: nothing is counted, and the delivery waits a minute. Nor is `deferred`: there was no
 * room for the attempt, which is nobody's fault, and the delivery waits a second.
 */
export type Outcome =
  | { kind: "acknowledged"; httpStatus: number }
  | { kind: "refused"; httpStatus: number }
  | { kind: "unreachable"; reason: FailureReason }
  | { kind: "our-fault"; fault: OurFault; error?: unknown }
  | { kind: "deferred" };

/**
 * Internal faults: what must be mended on our side before deliveries can go on.
 *
 * None of them may be caused by what a partner chooses: URL, name, address, certificate, answer, number of requests.
 * Where an error has two possible causes, our own side has to confirm the fault (`OwnSide`, the resolver's probe).
 * `unexpected` is an exception that nobody foresaw. Only a defect of ours raises it.
 */
export const OUR_FAULTS = [
  "no_resolver",
  "no_descriptors",
  "no_ports",
  "no_route",
  "secret_sealed",
  "lease_spent",
  "unexpected",
  "stopping",
] as const;

export type OurFault = (typeof OUR_FAULTS)[number];
