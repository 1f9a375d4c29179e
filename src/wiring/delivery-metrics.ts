import { Gauge, Histogram, type Registry } from "prom-client";
import type { Consequences } from "../actions/attempts.ts";
import { endToEndMs } from "../actions/counted-activity.ts";
import { VERSION } from "./product.ts";

/** Exposes the version. */
export function exposeBuild(registers: Registry[]): void {
  new Gauge({
    name: "partner_api_build_info",
    help: "The running version; the value is always 1",
    labelNames: ["version", "node"],
    registers,
  }).set({ version: VERSION, node: process.version }, 1);
}

/** Measures the time from publishing to the end of the successful attempt. */
export function measureEndToEnd(registers: Registry[]): (consequences: Consequences) => void {
  const durations = new Histogram({
    name: "partner_api_end_to_end_seconds",
    help: "Time from publishing an event to its delivery",
    buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600, 21_600, 86_400, 172_800],
    registers,
  });
  return ({ recorded }) => {
    for (const { attempt, state } of recorded) {
      if (state === "delivered")
        durations.observe(endToEndMs(attempt.claim.id, attempt.endedAt) / 1000);
    }
  };
}
