import { ORGANIZATIONS_REPORTED, SLOWED_REPORTED } from "../subjects/processes/rules.ts";
import type { Dispatcher, Holders } from "./dispatcher.ts";

/** The parts of a dispatcher that show its slots. */
export type Slotted = Pick<Dispatcher, "inFlight" | "concurrency" | "holders" | "slowed">;

/** Returns the report of a process: the organizations with the most slots, and the subscriptions with the lowest limits. */
export function countSlots(dispatcher: Slotted | null) {
  const holders: Holders["organizations"] = dispatcher?.holders.organizations ?? [];
  return {
    attemptsUnderWay: dispatcher?.inFlight ?? 0,
    slots: dispatcher?.concurrency ?? null,
    organizations: holders
      .sort(([, a], [, b]) => b - a)
      .slice(0, ORGANIZATIONS_REPORTED)
      .map(([id, slots]) => ({ id, slots })),
    slowed: (dispatcher?.slowed ?? [])
      .sort(([, a], [, b]) => a - b)
      .slice(0, SLOWED_REPORTED)
      .map(([id, limit]) => ({ id, limit })),
  };
}
