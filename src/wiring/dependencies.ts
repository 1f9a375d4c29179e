import { ActivityLog } from "../actions/activity-log.ts";
import { createCancelling } from "../actions/cancellation.ts";
import { countCancelled } from "../actions/counted-activity.ts";
import type { Dependencies, Foundations } from "../actions/dependencies.ts";
import { createDependencies } from "../actions/create-dependencies.ts";
import { NO_DISPATCHER } from "../actions/publish.ts";
import type { Config } from "../config.ts";
import type { EventTypes } from "../domain/event-types.ts";
import type { CancelledRow } from "../postgres/cancellation.ts";
import type { Database } from "../postgres/database.ts";
import { DatabaseClock } from "./database-clock.ts";
import { type Destinations, openDestinations } from "./destinations.ts";
import { openRing } from "./sealing-keys.ts";

/** A lease lasts this many attempts, which leaves time for look-up, queueing and recording. */
const LEASE_ATTEMPTS = 3;

/** Measures the clock and opens the key ring. Returns what the dispatcher and the actions share. */
export async function openFoundations(
  config: Config,
  db: Database,
  { onCancelFailed }: { onCancelFailed?: (error: unknown) => void } = {},
): Promise<{ foundations: Foundations & { activity: ActivityLog }; clock: DatabaseClock }> {
  const clock = new DatabaseClock(db);
  await clock.measure();
  const activity = new ActivityLog(clock.now);
  const onCancelled = (rows: CancelledRow[]) => {
    countCancelled(activity, rows);
  };
  const foundations = {
    db,
    clock: clock.now,
    ring: await openRing(config, db),
    rules: {
      retryDelaysMs: config.retryDelaysMs,
      autoDisableAfter: config.autoDisableAfter,
      maxSubscriptions: config.maxSubscriptions,
      leaseMs: LEASE_ATTEMPTS * config.attemptTimeoutMs,
    },
    platformOrganization: config.platformOrganization,
    cancelling: createCancelling({ db, clock: clock.now }, { onCancelFailed, onCancelled }),
    activity,
  };
  return { foundations, clock };
}

/** For commands, which have no dispatcher. */
export async function openDependencies(
  config: Config,
  db: Database,
  given: { eventTypes?: EventTypes } = {},
): Promise<{ deps: Dependencies; destinations: Destinations }> {
  const { foundations } = await openFoundations(config, db);
  const destinations = openDestinations(config);
  const deps = createDependencies({
    ...foundations,
    ...NO_DISPATCHER,
    ...given,
    retentionMs: config.retentionMs,
    checkDestination: destinations.forRequests,
  });
  return { deps, destinations };
}
