import { type Fault, PartnerError } from "./errors.ts";

/** Throws `invalid_request` with every fault at once, if there is any. */
export function requireNoFaults(faults: Fault[]): void {
  if (faults.length === 0) return;
  throw new PartnerError("invalid_request", "The request does not have the expected shape.", {
    faults,
  });
}
