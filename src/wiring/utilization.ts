import type { Utilization } from "../delivery/pace.ts";

/** Measures the main thread. Its first result is for the time since the creation. */
export function createUtilization(): Utilization {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
