import type { Logger } from "pino";
import type { Dispatcher } from "../delivery/dispatcher.ts";
import { publicId } from "../domain/ids.ts";

const PAUSE_MS = 60_000;
const NAMED_MAX = 5;

/**
 * Logs the holders of the most slots and the subscriptions with the lowest limits while deliveries wait for a slot, at most once a
 * minute.
 */
export function createContentionLog(
  log: Logger,
  nowMs = () => performance.now(),
): (dispatcher: Pick<Dispatcher, "holders" | "slowed">) => void {
  let quietUntilMs = -Infinity;
  return (dispatcher) => {
    if (nowMs() < quietUntilMs) return;
    quietUntilMs = nowMs() + PAUSE_MS;
    const { holders, slowed } = dispatcher; // Read only here, because it takes a while.
    log.warn(
      {
        organizations: named("org", mostOf(holders.organizations)),
        failingHosts: Object.fromEntries(mostOf(holders.failingHosts)),
        slowed: named("wh", slowed.toSorted((a, b) => a[1] - b[1]).slice(0, NAMED_MAX)),
      },
      "deliveries wait for a slot",
    );
  };
}

type Counted = [name: string, count: number][];

function mostOf(holders: Counted): Counted {
  return holders.toSorted((a, b) => b[1] - a[1]).slice(0, NAMED_MAX);
}

function named(prefix: "org" | "wh", counted: Counted): Record<string, number> {
  return Object.fromEntries(counted.map(([id, count]) => [publicId(prefix, id), count]));
}
