import type { Plan } from "./ledger.ts";

/** Each victim once. */
export const SHORT: Omit<Plan, "seed"> = { messages: 1_000, badOf: 50, faults: 5, pauseMs: 1_000 };

export const LONG: Omit<Plan, "seed"> = {
  messages: Number(process.env["MESSAGES"] ?? 20_000),
  badOf: 500,
  faults: 25,
  pauseMs: 2_000,
};
