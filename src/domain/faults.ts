import { type Fault, invalidRequest } from "./errors.ts";

/** Throws `invalid_request` with all the faults, if there are any. */
export function requireNoFaults(faults: Fault[]): void {
  if (faults.length > 0) throw invalidRequest(faults);
}
