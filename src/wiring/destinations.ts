import { checkDestination, refused, type Vetted } from "../actions/destination.ts";
import type { Config } from "../config.ts";
import { EvenShare } from "../domain/even-share.ts";
import type { OrganizationId } from "../domain/ids.ts";
import { createNameLookup } from "../network/name-lookup.ts";

type Settings = Pick<Config, "dnsServers" | "attemptTimeoutMs" | "egress" | "dispatchConcurrency">;

export interface Destinations {
  forRequests: (url: string, organizationId: OrganizationId) => Promise<Vetted>;
  forDeliveries: (url: string) => Promise<Vetted>;
  close: () => void;
}

/**
 * Opens the check of URLs twice, for requests and for deliveries, each with look-ups of its own. Callers can name hosts
 * whose servers keep silent as fast as their rate limit allows. They must use up neither the look-ups of deliveries nor
 * those of other organizations, so organizations share the look-ups of requests evenly.
 */
export function openDestinations(
  config: Settings,
  /** Called when a request's URL cannot be checked because no resolver answers. */
  onUnresolved: () => void = () => undefined,
): Destinations {
  const lookUpsMax = config.dispatchConcurrency; // An attempt has one.
  const requests = open(config);
  const deliveries = open(config, lookUpsMax);
  const places = new EvenShare(lookUpsMax);

  return {
    forRequests,
    forDeliveries: deliveries.check,
    close: () => {
      requests.close();
      deliveries.close();
    },
  };

  async function forRequests(url: string, organizationId: OrganizationId): Promise<Vetted> {
    if (!places.take(organizationId)) return refused("too_many_lookups");
    try {
      const vetted = await requests.check(url);
      if (!vetted.ok && vetted.refusal === "no_resolver") onUnresolved();
      return vetted;
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
  const parts = { lookup: names.lookup, egress };
  return {
    check: (url: string) => checkDestination(parts, url),
    close: names.close,
  };
}
