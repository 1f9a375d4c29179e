import type { Outcome } from "../domain/outcome.ts";
import { internalFault, TIMED_OUT, unreachable } from "./attempt-failed.ts";

export const RESET = unreachable("connection_reset");
const NETWORK_ERROR = unreachable("network_error");
const NO_DESCRIPTORS = internalFault("no_descriptors");
const DEFERRED: Outcome = { kind: "deferred" };

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
]);

/** One address that could not be connected to. */
export interface DialError {
  code: string;
  family: 4 | 6;
}

/** What this machine knows of itself. It is asked when an error may be its own fault or the destination's. */
export interface OwnSide {
  hasLostIpv4: () => Promise<boolean>;
  /** Whether connections to other destinations get a port. */
  hasPorts: () => Promise<boolean>;
  /** Whether the IPv6 address that we are to send from is gone. */
  hasLostIpv6Source: () => Promise<boolean>;
}

/** What it means that none of a host's addresses could be connected to. */
export async function outcomeOfDial(errors: DialError[], ownSide: OwnSide): Promise<Outcome> {
  const outcomes = await Promise.all(errors.map((error) => outcomeOf(error, ownSide)));
  return (
    outcomes.find(({ kind }) => kind === "internal-fault") ??
    outcomes.find(({ kind }) => kind === "deferred") ??
    outcomes.find((outcome) => outcome !== NETWORK_ERROR) ??
    NETWORK_ERROR
  );
}

/**
 * A machine without IPv6 is common, so an IPv6 address that cannot be reached is no fault of ours, unless we have lost
 * the address to send from. For IPv4 our own
 * side has to confirm the fault: routers report a receiver's network by the code for a lost route, and Linux reports a
 * single destination that used up its ports by the code for having none left.
 */
async function outcomeOf({ code, family }: DialError, ownSide: OwnSide): Promise<Outcome> {
  if (family === 4 && code === "ENETUNREACH" && (await ownSide.hasLostIpv4())) {
    return internalFault("no_route");
  }
  if (family === 4 && code === "EADDRNOTAVAIL") {
    return (await ownSide.hasPorts()) ? DEFERRED : internalFault("no_ports");
  }
  if (family === 6 && code === "EADDRNOTAVAIL" && (await ownSide.hasLostIpv6Source())) {
    return internalFault("no_ports");
  }
  return BY_CODE.get(code) ?? NETWORK_ERROR;
}

export function outcomeOfHandshake(error: unknown): Outcome {
  return BY_CODE.get(codeOf(error)) ?? unreachable("tls_error");
}

export function outcomeOfExchange(error: unknown): Outcome {
  const code = codeOf(error);
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return unreachable("tls_error");
  return BY_CODE.get(code) ?? NETWORK_ERROR;
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}
