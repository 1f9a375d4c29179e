import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Opened } from "../lib/parts.ts";
import { NO_TRACER, type Tracer } from "../lib/tracing.ts";
import { DatabaseClock } from "../observe/database-clock.ts";
import { createDeliveryLog, namesOf } from "../observe/delivery-log.ts";
import type { NoteFault } from "../observe/log.ts";
import type { Writes } from "../observe/outage.ts";
import { type Database, isTransient, isUnavailable } from "../postgres/database.ts";
import { createDeliverer } from "../queue/deliver.ts";
import { Dispatcher, type DispatcherOptions } from "../queue/dispatcher.ts";
import { Due, type DueOptions } from "../queue/due.ts";
import { createRecorder } from "../queue/recorder.ts";
import type { Send } from "../queue/sender.ts";
import { Slots } from "../queue/slots.ts";
import { countCancelled } from "../subjects/activity/counted.ts";
import { ActivityLog } from "../subjects/activity/log.ts";
import { createDependencies } from "../subjects/create-dependencies.ts";
import { type Consequences, postpone, recordAttempts } from "../subjects/deliveries/attempts.ts";
import type { CancelledCount } from "../subjects/deliveries/cancellation-sql.ts";
import { createCancelling } from "../subjects/deliveries/cancellation.ts";
import { listDueSubscriptions } from "../subjects/deliveries/claims-sql.ts";
import { claimDeliveries } from "../subjects/deliveries/claims.ts";
import { type Attempt, type Claim, DEFERRED_DELAY_MS } from "../subjects/deliveries/rules.ts";
import type { Dependencies, Foundations } from "../subjects/dependencies.ts";
import { createEventTypes, type EventTypes } from "../subjects/event-types/rules.ts";
import { dueOf } from "../subjects/events/notices.ts";
import { NO_DISPATCHER } from "../subjects/events/publish.ts";
import { openDatabase } from "./database.ts";
import { openEgress } from "./egress.ts";
import { openRing } from "./keys.ts";

/** A lease lasts this many attempts, which leaves time for look-up, queueing and recording. */
const LEASE_ATTEMPTS = 3;

/** Measures the clock and opens the key ring. Returns the parts that the dispatcher and the use cases share. */
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

function rulesOf(config: Config): Dependencies["rules"] {
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

/** How often the dispatcher looks for deliveries of other processes and for those that became due. */
const POLL_INTERVAL_MS = 100;
/** A slower statement is abandoned, and the next one tries another connection. */
const STATEMENT_MS = 10_000;

export interface EngineOptions {
  send: Send;
  writes: Writes;
  slots?: Slots;
  /** Returns true if outcomes that the database does not take are abandoned at once. */
  isGivenUp?: () => boolean;
  log: Logger;
  /** Default: nothing is traced. */
  tracer?: Tracer;
  onContended: DispatcherOptions["onContended"];
  onEnded: (attempt: Attempt) => void;
  onRecorded: (consequences: Consequences) => void;
  onInternalFault: NoteFault;
  onError: (error: unknown) => void;
}

/** Connects the parts of the delivery engine: claim → attempt → decide → record. */
export function createEngine(
  foundations: Foundations,
  config: Config,
  {
    send,
    writes,
    slots = new Slots(config.dispatchConcurrency, config.subscriptionConcurrency),
    isGivenUp = () => false,
    log,
    tracer = NO_TRACER,
    onContended,
    onEnded,
    onRecorded,
    onInternalFault,
    onError,
  }: EngineOptions,
): Dispatcher {
  const { clock } = foundations;
  const lines = createDeliveryLog(log);
  const inTime = () => ({ ...foundations, db: foundations.db.within(STATEMENT_MS) });
  const persistence = {
    slots: config.dispatchConcurrency,
    isTransient: (error: unknown) => isTransient(error) && !isGivenUp(),
    onRetry: (error: unknown) => {
      if (isUnavailable(error)) onError(error);
    },
    giveUpAfterMs: foundations.rules.leaseMs,
  };
  const scanning: DueOptions = {
    listDue: (page) => listDueSubscriptions(inTime().db, { now: clock(), ...page }),
    pollIntervalMs: POLL_INTERVAL_MS,
  };
  const due = new Due(scanning, (id) => slots.isAtLimit(id));
  const record = createRecorder<Attempt>(async (attempts) => {
    const consequences = await writes.note(recordAttempts(inTime(), attempts));
    onRecorded(consequences);
    lines.recorded(attempts, consequences);
    if (consequences.notices.length > 0) due.nudge(dueOf(consequences.notices));
  }, persistence);

  const defer = createRecorder<Claim>(
    (claims) => postpone(inTime(), claims, DEFERRED_DELAY_MS),
    persistence,
  );
  const deliver = createDeliverer({
    send,
    clock,
    tracer,
    tellsReceivers: config.tracing?.tellsReceivers ?? false,
    record: (attempt) =>
      record(attempt).catch((error: unknown) => {
        lines.abandoned(attempt);
        throw error;
      }),
    postpone: createRecorder<Claim>((claims) => postpone(inTime(), claims), persistence),
    defer,
    onEnded: (attempt) => {
      onEnded(attempt);
      lines.ended(attempt);
    },
    onInternalFault: (fault, claim, error) => {
      onInternalFault(
        fault,
        namesOf(claim),
        "the delivery waits a minute, and no attempt is counted",
        error,
      );
    },
  });

  return new Dispatcher({
    ...scanning,
    due,
    slots,
    // If outcomes cannot be recorded, claims would only repeat attempts whose leases then expire.
    requireDatabase: async (hasFailed) => {
      if (hasFailed || writes.hasFailed()) await writes.check();
    },
    claim: (wanted) => claimDeliveries(inTime(), wanted),
    deliver,
    defer,
    onContended,
    concurrency: config.dispatchConcurrency,
    subscriptionConcurrency: config.subscriptionConcurrency,
    onError,
  });
}
