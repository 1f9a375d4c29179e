import { beginLookUp, checkDestination, refused, type Vetted } from "../actions/destination.ts";
import type { Config } from "../config.ts";
import { EvenShare } from "../domain/even-share.ts";
import { UnderWay } from "../domain/under-way.ts";
import { createNameLookup } from "../network/name-lookup.ts";

type Settings = Pick<Config, "dnsServers" | "attemptTimeoutMs" | "egress" | "dispatchConcurrency">;

/** Look-ups under way for each attempt that may be: its own, and one that was begun ahead. */
const LOOKUPS_PER_ATTEMPT = 2;

/**
 * The check of URLs, once for requests and once for deliveries, each with look-ups of its own: callers
 * may name hosts whose servers keep silent as fast as their rate limit lets them, and must not use up
 * the look-ups under way that deliveries to everybody else need. Nor must they use up each other's:
 * organizations share the look-ups of requests evenly.
 */
export function openDestinations(config: Settings): {
  forRequests: (url: string, organizationId: string) => Promise<Vetted>;
  forDeliveries: (url: string) => Promise<Vetted>;
  /** Begins the look-up of a delivery that is about to be attempted. */
  lookAhead: (url: string) => void;
  close: () => void;
} {
  const lookUpsMax = LOOKUPS_PER_ATTEMPT * config.dispatchConcurrency;
  const requests = open(config);
  const deliveries = open(config, lookUpsMax);
  const places = new EvenShare(lookUpsMax);

  return {
    forRequests,
    forDeliveries: deliveries.check,
    lookAhead: deliveries.lookAhead,
    close: () => {
      requests.close();
      deliveries.close();
    },
  };

  async function forRequests(url: string, organizationId: string): Promise<Vetted> {
    if (!places.take(organizationId)) return refused("too_many_lookups");
    try {
      return await requests.check(url);
    } finally {
      places.give(organizationId);
    }
  }
}

/** How long a look-up may take: half of the attempt that it is for. */
export function lookUpLimitMs(attemptTimeoutMs: number): number {
  return attemptTimeoutMs / 2;
}

function open({ dnsServers, attemptTimeoutMs, egress }: Settings, lookUpsMax = Infinity) {
  const names = createNameLookup({
    servers: dnsServers ?? undefined,
    timeoutMs: lookUpLimitMs(attemptTimeoutMs),
    answerLocalhost: egress.allow.length > 0,
    lookUpsMax,
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
