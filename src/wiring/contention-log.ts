import type { Logger } from "pino";
import type { Holders } from "../delivery/dispatcher.ts";

const PAUSE_MS = 60_000;
const NAMED_MAX = 5;

/** Logs the holders of the most slots while deliveries wait for one, at most once a minute. */
export function createContentionLog(
  log: Logger,
  nowMs = () => performance.now(),
): (holders: Holders) => void {
  let quietUntilMs = -Infinity;
  return ({ organizations, failingHosts }) => {
    if (nowMs() < quietUntilMs) return;
    quietUntilMs = nowMs() + PAUSE_MS;
    log.warn(
      { organizations: mostOf(organizations), failingHosts: mostOf(failingHosts) },
      "deliveries wait for a slot",
    );
  };
}

function mostOf(holders: [name: string, slots: number][]): Record<string, number> {
  return Object.fromEntries(holders.toSorted((a, b) => b[1] - a[1]).slice(0, NAMED_MAX));
}
