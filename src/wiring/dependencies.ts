import { createDependencies, type Dependencies, type Parts } from "../actions/dependencies.ts";
import { NO_SLOTS } from "../actions/publish.ts";
import type { Config } from "../config.ts";
import type { EventTypes } from "../domain/event-types.ts";
import type { Database } from "../postgres/database.ts";
import { DatabaseClock } from "./database-clock.ts";
import { openDestinations } from "./destinations.ts";
import { openRing } from "./sealing-keys.ts";

type Destinations = ReturnType<typeof openDestinations>;

/** Everything the actions reach, from the configuration. */
export async function wireDependencies(
  config: Config,
  db: Database,
  {
    eventTypes,
    nudge = () => undefined,
    reserve = () => NO_SLOTS,
    noteWrite,
    onCancelFailed = () => undefined,
    onUnresolved = () => undefined,
  }: Partial<Pick<Parts, "nudge" | "reserve" | "noteWrite" | "onCancelFailed">> & {
    /** Default: the service's own alone. */
    eventTypes?: EventTypes;
    /** A URL could not be judged for want of a resolver. */
    onUnresolved?: () => void;
  } = {},
): Promise<{ deps: Dependencies; clock: DatabaseClock; destinations: Destinations }> {
  const clock = new DatabaseClock(db);
  await clock.measure();
  const ring = await openRing(config, db);
  const destinations = openDestinations(config);
  const deps = createDependencies({
    db,
    clock: clock.now,
    ring,
    checkDestination: async (url, organizationId) => {
      const vetted = await destinations.forRequests(url, organizationId);
      if (!vetted.ok && vetted.refusal === "no_resolver") onUnresolved();
      return vetted;
    },
    rules: {
      retryDelaysMs: config.retryDelaysMs,
      autoDisableAfter: config.autoDisableAfter,
      maxSubscriptions: config.maxSubscriptions,
      leaseMs: LEASE_ATTEMPTS * config.attemptTimeoutMs,
    },
    retentionMs: config.retentionMs,
    ...(eventTypes && { eventTypes }),
    nudge,
    reserve,
    ...(noteWrite && { noteWrite }),
    onCancelFailed,
  });
  return { deps, clock, destinations };
}

/** A lease outlives the attempt that it is for, with room for look-up, queueing and recording. */
const LEASE_ATTEMPTS = 3;
