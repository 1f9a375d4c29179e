import { setFlagsFromString } from "node:v8";

/**
 * Fits V8's garbage collector to a service. Both are V8's own options, not Node.js's: a version that has dropped one says
 * so on standard error, and goes on without.
 */
export function tuneCollector(): void {
  // An object is young at first, wherever it was made. Requests make some in the same places as connections, which live
  // long: taken for old, they are kept until the next collection of everything, and with them all that they lead to.
  setFlagsFromString("--no-allocation-site-pretenuring");
  // Old objects are collected once there are twice as many as were left the last time, not up to four times.
  setFlagsFromString("--heap-growing-percent=100");
}
