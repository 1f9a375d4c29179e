import { ActivityLog } from "../actions/activity-log.ts";
import { createCancelling } from "../actions/cancellation.ts";
import { countCancelled } from "../actions/counted-activity.ts";
import type { Dependencies, Foundations } from "../actions/dependencies.ts";
import { createDependencies } from "../actions/create-dependencies.ts";
import { NO_DISPATCHER } from "../actions/publish.ts";
import type { Config } from "../config.ts";
import { createEventTypes, type EventTypes } from "../domain/event-types.ts";
import type { CancelledCount } from "../postgres/cancellation.ts";
import type { Database } from "../postgres/database.ts";
import { openDatabase } from "./database.ts";
import { DatabaseClock } from "./database-clock.ts";
import { openEgress } from "./egress.ts";
import type { Opened } from "./opened.ts";
import { openRing } from "./sealing-keys.ts";

/** A lease lasts this many attempts, which leaves time for look-up, queueing and recording. */
const LEASE_ATTEMPTS = 3;

/** Measures the clock and opens the key ring. Returns the parts that the dispatcher and the actions share. */
export async function openFoundations(
  config: Config,
  db: Database,
  { onCancelFailed }: { onCancelFailed?: (error: unknown) => void } = {},
): Promise<{ foundations: Foundations & { activity: ActivityLog }; clock: DatabaseClock }> {
  const clock = new DatabaseClock(db);
  await clock.measure();
  const activity = new ActivityLog(clock.now);
  const onCancelled = (counts: CancelledCount[]) => {
    countCancelled(activity, counts);
  };
  const foundations = {
    db,
    cell: config.cell,
    clock: clock.now,
    ring: await openRing(config, db),
    rules: rulesOf(config),
    platformOrganization: config.platformOrganization,
    cancelling: createCancelling({ db, clock: clock.now }, { onCancelFailed, onCancelled }),
    activity,
  };
  return { foundations, clock };
}

export function rulesOf(config: Config): Dependencies["rules"] {
  return {
    retryDelaysMs: config.retryDelaysMs,
    autoDisableAfter: config.autoDisableAfter,
    maxSubscriptions: config.maxSubscriptions,
    leaseMs: LEASE_ATTEMPTS * config.attemptTimeoutMs,
    subscriptionConcurrency: config.subscriptionConcurrency,
  };
}

/** For commands, which have no dispatcher. */
export async function openDependencies(
  config: Config,
  log: (message: string) => void,
  { opened, eventTypes = createEventTypes() }: { opened: Opened; eventTypes?: EventTypes },
): Promise<Dependencies> {
  const { db, close } = await openDatabase(config, log, { max: 2 });
  opened.add(close);
  const { foundations } = await openFoundations(config, db);
  const egress = openEgress(config);
  opened.add(() => egress.close());
  return createDependencies({
    ...foundations,
    ...NO_DISPATCHER,
    eventTypes,
    retentionMs: config.retentionMs,
    checkDestination: (url, organizationId) => egress.check(url, organizationId),
  });
}
