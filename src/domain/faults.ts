import { type Fault, invalidRequest } from "./errors.ts";

/** Throws `invalid_request` with every fault at once, if there is any. */
export function requireNoFaults(faults: Fault[]): void {
  if (faults.length > 0) throw invalidRequest(faults);
}
