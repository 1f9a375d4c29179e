import { checkDestination } from "../actions/destination.ts";
import { createDependencies, type Dependencies } from "../actions/dependencies.ts";
import type { Config } from "../config.ts";
import { createNameLookup } from "../network/name-lookup.ts";
import type { Database } from "../postgres/database.ts";
import { DatabaseClock } from "./database-clock.ts";
import { openRing } from "./sealing-keys.ts";

type Names = ReturnType<typeof createNameLookup>;

/** Everything the actions reach, from the configuration. */
export async function wireDependencies(
  config: Config,
  db: Database,
  nudge: (subscriptionIds: string[]) => void = () => undefined,
): Promise<{ deps: Dependencies; clock: DatabaseClock; names: Names }> {
  const clock = new DatabaseClock(db);
  await clock.measure();
  const names = createNameLookup({
    servers: config.dnsServers ?? undefined,
    timeoutMs: config.attemptTimeoutMs / 2,
    answerLocalhost: config.egress.allow.length > 0,
  });
  const deps = createDependencies({
    db,
    clock: clock.now,
    ring: await openRing(config, db),
    checkDestination: (url) =>
      checkDestination({ lookup: names.lookup, egress: config.egress }, url),
    rules: {
      retryDelaysMs: config.retryDelaysMs,
      autoDisableAfter: config.autoDisableAfter,
      maxSubscriptions: config.maxSubscriptions,
      leaseMs: LEASE_ATTEMPTS * config.attemptTimeoutMs,
    },
    nudge,
  });
  return { deps, clock, names };
}

/** A lease outlives the attempt that it is for, with room for look-up, queueing and recording. */
const LEASE_ATTEMPTS = 3;
