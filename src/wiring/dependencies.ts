import { ActivityLog } from "../actions/activity-log.ts";
import { createCancelling } from "../actions/cancellation.ts";
import { countCancelled } from "../actions/counted-activity.ts";
import type { Dependencies, Foundations } from "../actions/dependencies.ts";
import { createDependencies } from "../actions/create-dependencies.ts";
import { NO_DISPATCHER } from "../actions/publish.ts";
import { type Shard, Shards } from "../actions/shards.ts";
import { type Config, eachShard } from "../config.ts";
import { createEventTypes, type EventTypes } from "../domain/event-types.ts";
import type { CancelledCount } from "../postgres/cancellation.ts";
import { type Database, isUnavailable } from "../postgres/database.ts";
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
    shard: config.shard,
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

/** For commands, which have no dispatcher. If there are several shards, those that are away are left out. */
export async function openShards(
  config: Config,
  log: (message: string) => void,
  { opened, eventTypes = createEventTypes() }: { opened: Opened; eventTypes?: EventTypes },
): Promise<Shards> {
  const open = async (one: Config): Promise<Shard> => {
    try {
      const { db, close } = await openDatabase(one, log, { max: 2 });
      opened.add(close);
      return { name: one.shard, deps: await openDependencies(one, db, { opened, eventTypes }) };
    } catch (error) {
      const isOnly = one.shards.length === 1;
      if (isOnly || !isUnavailable((error as Error).cause)) throw error;
      log(`away: ${(error as Error).message}`);
      return { name: one.shard, deps: null };
    }
  };
  const [home, ...others] = eachShard(config);
  const shards: [Shard, ...Shard[]] = [await open(home)];
  for (const one of others) shards.push(await open(one));
  const { platformOrganization, retentionMs } = config;
  const ownProblems = () => Promise.resolve([]);
  const rules = rulesOf(config);
  return new Shards(shards, { eventTypes, platformOrganization, retentionMs, ownProblems, rules });
}

async function openDependencies(
  config: Config,
  db: Database,
  { opened, eventTypes }: { opened: Opened; eventTypes: EventTypes },
): Promise<Dependencies> {
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
