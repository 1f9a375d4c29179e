import { ORGANIZATIONS_REPORTED, SLOWED_REPORTED } from "../domain/process.ts";
import type { Dispatcher, Holders } from "./dispatcher.ts";

/** What a dispatcher shows of its slots. */
export type Slotted = Pick<Dispatcher, "underWay" | "holders" | "slowed">;

/** The organizations that hold most slots, and the subscriptions with the lowest limits, as a process reports them. */
export function countSlots(dispatcher: Slotted | null) {
  const holders: Holders["organizations"] = dispatcher?.holders.organizations ?? [];
  return {
    attempts_under_way: dispatcher?.underWay ?? 0,
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
