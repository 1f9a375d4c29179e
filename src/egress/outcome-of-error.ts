import { codeOf } from "../lib/code-of.ts";
import type { Outcome } from "../domain/outcome.ts";
import { internalFault, TIMED_OUT, unreachable } from "./attempt-failed.ts";

export const RESET = unreachable("connection_reset");
const NETWORK_ERROR = unreachable("network_error");
const NO_DESCRIPTORS = internalFault("no_descriptors");
const DEFERRED: Outcome = { kind: "deferred" };

/** Codes with one meaning in every phase of an attempt. The others depend on the phase. */
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

/** An address that we could not connect to. */
export interface DialError {
  code: string;
  family: 4 | 6;
}

/** Checks of this machine, for errors whose cause may be here or at the destination. */
export interface LocalChecks {
  hasLostIpv4: () => Promise<boolean>;
  /** Returns true if connections to other destinations get a port. */
  hasPorts: () => Promise<boolean>;
  /** Returns true if our IPv6 source address is gone. */
  hasLostIpv6Source: () => Promise<boolean>;
}

/** Returns the outcome if we could not connect to any address of a host. */
export async function outcomeOfDial(
  errors: DialError[],
  localChecks: LocalChecks,
): Promise<Outcome> {
  const outcomes = await Promise.all(errors.map((error) => outcomeOf(error, localChecks)));
  return (
    outcomes.find(({ kind }) => kind === "internal-fault") ??
    outcomes.find(({ kind }) => kind === "deferred") ??
    outcomes.find((outcome) => outcome !== NETWORK_ERROR) ??
    NETWORK_ERROR
  );
}

/**
 * An unreachable IPv6 address is no internal fault, because machines without IPv6 are common. The exception is a lost source
 * address. For IPv4, `localChecks` must confirm the fault, since both codes are ambiguous. Routers report a receiver's network as a
 * lost route (ENETUNREACH). Linux reports one destination without free ports as if no port were left (EADDRNOTAVAIL).
 */
async function outcomeOf({ code, family }: DialError, localChecks: LocalChecks): Promise<Outcome> {
  if (family === 4 && code === "ENETUNREACH" && (await localChecks.hasLostIpv4())) {
    return internalFault("no_route");
  }
  if (family === 4 && code === "EADDRNOTAVAIL") {
    return (await localChecks.hasPorts()) ? DEFERRED : internalFault("no_ports");
  }
  if (family === 6 && code === "EADDRNOTAVAIL" && (await localChecks.hasLostIpv6Source())) {
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
