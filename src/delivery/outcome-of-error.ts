import type { Outcome } from "../domain/outcome.ts";
import { ourFault, TIMED_OUT, unreachable } from "./attempt-failed.ts";

export const RESET = unreachable("connection_reset");
const NO_DESCRIPTORS = ourFault("no_descriptors");

/** What the system reports, whatever we were doing. Everything else depends on that. */
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
  ["EADDRNOTAVAIL", ourFault("no_ports")],
]);

/** One address that could not be connected to. */
export interface DialError {
  code: string;
  family: 4 | 6;
  /** Our own system refused to try; nothing was sent and no router had a say. */
  isLocal: boolean;
}

/**
 * What it means that none of a host's addresses could be connected to. A host that has no IPv6 route
 * is common, so only a missing IPv4 route is a fault of ours, and only if it is our routing table
 * that says so: routers on the way report the receiver's network with the same code.
 */
export function outcomeOfDial(errors: DialError[]): Outcome {
  const outcomes = errors.map(({ code, family, isLocal }) => {
    if (code === "ENETUNREACH" && family === 4 && isLocal) return ourFault("no_route");
    return BY_CODE.get(code) ?? unreachable("network_error");
  });
  return (
    outcomes.find((outcome) => outcome.kind === "our-fault") ??
    outcomes.find(
      (outcome) => outcome.kind !== "unreachable" || outcome.reason !== "network_error",
    ) ??
    unreachable("network_error")
  );
}

export function outcomeOfHandshake(error: unknown): Outcome {
  return BY_CODE.get(codeOf(error)) ?? unreachable("tls_error");
}

export function outcomeOfExchange(error: unknown): Outcome {
  const code = codeOf(error);
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return unreachable("tls_error");
  return BY_CODE.get(code) ?? unreachable("network_error");
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}
