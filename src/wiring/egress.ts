import { checkDestination, refused, type Vetted } from "../egress/destination.ts";
import type { Config } from "../config.ts";
import { EvenShare } from "../egress/even-share.ts";
import type { OrganizationId } from "../domain/ids.ts";
import { createNameLookup } from "../egress/name-lookup.ts";
import { ResolverLoad } from "../egress/resolver-load.ts";

type Settings = Pick<Config, "dnsServers" | "attemptTimeoutMs" | "egress" | "dispatchConcurrency">;

export interface Destinations {
  forRequests: (url: string, organizationId: OrganizationId) => Promise<Vetted>;
  forDeliveries: (url: string) => Promise<Vetted>;
  close: () => void;
}

/**
 * Opens two checks of URLs, for requests and for deliveries. Each has its own look-ups. A caller can name hosts with silent
 * name servers as fast as the rate limit allows. That must not use up the look-ups of deliveries or of other organizations, so
 * organizations share the look-ups of requests evenly.
 */
export function openDestinations(
  config: Settings,
  /** Called when a request's URL cannot be checked because no resolver answers. */
  onUnresolved: () => void = () => undefined,
): Destinations {
  const lookUpsMax = config.dispatchConcurrency; // Each attempt makes one look-up.
  const load = new ResolverLoad();
  const requests = open(config, load);
  const deliveries = open(config, load, lookUpsMax);
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

/** The time limit of a look-up: half of its attempt. */
export function lookUpLimitMs(attemptTimeoutMs: number): number {
  return attemptTimeoutMs / 2;
}

function open(
  { dnsServers, attemptTimeoutMs, egress }: Settings,
  load: ResolverLoad,
  lookUpsMax = Infinity,
) {
  const names = createNameLookup({
    servers: dnsServers ?? undefined,
    timeoutMs: lookUpLimitMs(attemptTimeoutMs),
    answerLocalhost: egress.allow.length > 0,
    lookUpsMax,
    load,
  });
  const parts = { lookup: names.lookup, egress };
  return {
    check: (url: string) => checkDestination(parts, url),
    close: names.close,
  };
}
