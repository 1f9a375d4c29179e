import { beginLookUp, checkDestination, type Vetted } from "../actions/destination.ts";
import type { Config } from "../config.ts";
import { UnderWay } from "../domain/under-way.ts";
import { createNameLookup } from "../network/name-lookup.ts";

type Check = (url: string) => Promise<Vetted>;
type Settings = Pick<Config, "dnsServers" | "attemptTimeoutMs" | "egress">;

/**
 * The check of URLs, once for requests and once for deliveries, each with look-ups of its own: callers
 * may name hosts whose servers keep silent as fast as their rate limit lets them, and must not use up
 * the look-ups under way that deliveries to everybody else need.
 */
export function openDestinations(config: Settings): {
  forRequests: Check;
  forDeliveries: Check;
  /** Begins the look-up of a delivery that is about to be attempted. */
  lookAhead: (url: string) => void;
  close: () => void;
} {
  const [requests, deliveries] = [open(config), open(config)];
  return {
    forRequests: requests.check,
    forDeliveries: deliveries.check,
    lookAhead: deliveries.lookAhead,
    close: () => {
      requests.close();
      deliveries.close();
    },
  };
}

/** How long a look-up may take: half of the attempt that it is for. */
export function lookUpLimitMs(attemptTimeoutMs: number): number {
  return attemptTimeoutMs / 2;
}

function open({ dnsServers, attemptTimeoutMs, egress }: Settings) {
  const names = createNameLookup({
    servers: dnsServers ?? undefined,
    timeoutMs: lookUpLimitMs(attemptTimeoutMs),
    answerLocalhost: egress.allow.length > 0,
  });
  const checks = new UnderWay((url) => checkDestination({ ...names, egress }, url));
  return {
    check: (url: string) => checks.ask(url),
    lookAhead: (url: string) => {
      // Whoever shares a check would leave it to a later attempt, for which it is too old.
      if (!checks.has(url)) beginLookUp({ ...names, egress }, url);
    },
    close: names.close,
  };
}
