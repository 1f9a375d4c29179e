import { codeOf } from "../lib/code-of.ts";

/** Why a receiver was not reached, or did not answer in HTTP. */
export type FailureReason =
  | "timeout"
  | "dns_error"
  | "address_not_public"
  | "connection_refused"
  | "connection_reset"
  | "tls_error"
  | "network_error"
  | "protocol_error";

/**
 * The conditions on our side that stop a post. A receiver, its name or its URL cannot cause one. If an error has two possible causes,
 * our own side must confirm the fault. `unexpected` is an exception that nobody foresaw, and `stopping` the end of this process' posts.
 */
export type Fault =
  "no_resolver" | "no_descriptors" | "no_ports" | "no_route" | "unexpected" | "stopping";

/** The result of a post. `deferred`: there was no room for it at the moment. */
export type Outcome =
  | { kind: "answered"; httpStatus: number }
  | { kind: "unreachable"; reason: FailureReason }
  | { kind: "internal-fault"; fault: Fault; error?: unknown }
  | { kind: "deferred" };

/** Ends a post at any point. */
export class PostFailed extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome, cause?: unknown) {
    super(outcome.kind, { cause });
    this.name = "PostFailed";
    this.outcome = outcome;
  }
}

export function unreachable(reason: FailureReason): Outcome {
  return { kind: "unreachable", reason };
}

export function internalFault(fault: Fault): Outcome {
  return { kind: "internal-fault", fault };
}

export const DEFERRED: Outcome = { kind: "deferred" };
export const TIMED_OUT = unreachable("timeout");
export const RESET = unreachable("connection_reset");
export const NETWORK_ERROR = unreachable("network_error");
const NO_DESCRIPTORS = internalFault("no_descriptors");

/** Codes with one meaning in every phase of a post. The others depend on the phase. */
const BY_CODE = new Map<string, Outcome>([
  ["ECONNREFUSED", unreachable("connection_refused")],
  ["ECONNRESET", RESET],
  ["ECONNABORTED", RESET],
  ["EPIPE", RESET],
  ["ETIMEDOUT", TIMED_OUT],
  ["EMFILE", NO_DESCRIPTORS],
  ["ENFILE", NO_DESCRIPTORS],
  ["ENOBUFS", NO_DESCRIPTORS],
  ["ENOMEM", NO_DESCRIPTORS],
]);

export function outcomeOfCode(code: string): Outcome {
  return BY_CODE.get(code) ?? NETWORK_ERROR;
}

export function outcomeOfHandshake(error: unknown): Outcome {
  return BY_CODE.get(codeOf(error)) ?? unreachable("tls_error");
}

export function outcomeOfExchange(error: unknown): Outcome {
  const code = codeOf(error);
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return unreachable("tls_error");
  return outcomeOfCode(code);
}
