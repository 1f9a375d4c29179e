import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Egress, EgressOptions } from "../egress/index.ts";
import { startActivityWriter } from "../jobs/activity.ts";
import { startExporting } from "../jobs/history-exports.ts";
import { startMaintenance, maintainPartitions } from "../jobs/maintenance.ts";
import {
  datedProblems,
  identify,
  type Reporting,
  startReporting,
} from "../jobs/process-reports.ts";
import { startRedelivering } from "../jobs/redelivery.ts";
import type { ProcessId } from "../lib/ids.ts";
import type { Opened } from "../lib/parts.ts";
import { USER_AGENT } from "../lib/product.ts";
import type { Tracer } from "../lib/tracing.ts";
import type { DatabaseClock } from "../observe/database-clock.ts";
import { Readiness } from "../observe/health.ts";
import { createContentionLog, FaultLog, type NoteFault } from "../observe/log.ts";
import { createMetrics, createUtilization, type Metrics } from "../observe/metrics.ts";
import { Outage, Writes } from "../observe/outage.ts";
import { type Database, isUnavailable } from "../postgres/database.ts";
import type { Dispatcher } from "../queue/dispatcher.ts";
import { startNudging } from "../queue/nudging.ts";
import { Pace } from "../queue/pace.ts";
import { createSender } from "../queue/sender.ts";
import { Slots } from "../queue/slots.ts";
import type { ActivityLog } from "../subjects/activity/log.ts";
import { countRecorded } from "../subjects/activity/counted.ts";
import { createDependencies } from "../subjects/create-dependencies.ts";
import type { Dependencies, Foundations } from "../subjects/dependencies.ts";
import type { EventTypes } from "../subjects/event-types/rules.ts";
import { requireRingInUse } from "../subjects/secrets/work.ts";
import type { Membership } from "../workers/index.ts";
import { databaseFolder, openDatabase, standstillMs } from "./database.ts";
import { openEgress } from "./egress.ts";
import { createEngine, type EngineOptions, openFoundations } from "./engine.ts";
import { startAnnouncing } from "./event-types.ts";

/** How long a request waits for the database. A frozen server must not fill the connection pool. */
const REQUEST_MS = 10_000;
/** The part of the grace after which a stop abandons the last writes. */
const OWN_WRITES_SHARE = 4;

interface Parts {
  processId: ProcessId;
  eventTypes: EventTypes;
  tracer: Tracer;
  ca: EgressOptions["ca"];
  maxConnections: number;
  membership: Membership | null;
}

/** What the listeners and the life cycle use of this process's work. */
interface Work {
  deps: Dependencies;
  /** Null in a process that makes no attempts. */
  dispatcher: Dispatcher | null;
  health: Readiness;
  metrics: Metrics;
  outage: Outage;
  reporting: Reporting;
}

/** Opens the database and starts all work on it, except for the dispatcher. Each step that opens something adds it to `opened` at once. */
export async function openWork(
  config: Config,
  { processId, eventTypes, tracer, ca, maxConnections, membership }: Parts,
  { log, opened }: { log: Logger; opened: Opened },
): Promise<Work> {
  const { db, url, close } = await openDatabase(config, (message) => log.info(message), {
    writesRetention: true,
    patienceMs: REQUEST_MS,
    openedUrl: membership?.databaseUrl ?? null,
  });
  const lastWrites = new LastWrites(db, config, log);
  opened.add(async () => {
    await close();
    lastWrites.haveEnded();
  });
  const writes = new Writes(db);
  const outage = new Outage(writes, log);
  opened.add(() => outage.stop());
  const orElse = (message: string) => (err: unknown) => {
    if (!isUnavailable(err)) log.error({ err }, message);
    else if (!lastWrites.areGivenUp) outage.note(err);
  };

  const { foundations, clock } = await openFoundations(config, db, {
    onCancelFailed: orElse(
      "cancelling queued deliveries failed: the rest is cancelled when it is due",
    ),
  });
  opened.add(() => foundations.cancelling.stopCancelling());
  await requireRingInUse(foundations);
  const onInUse = () => log.warn("tables are in use: partitions will be created and dropped later");
  await maintainPartitions(foundations, { exportsHistory: config.exportCommand !== null, onInUse });

  const { activity, ring } = foundations;
  const health = new Readiness({ db, writes, clock, ring });
  const ownProblems = datedProblems(() => health.forOperators.ready(), clock.now);
  const metrics = createMetrics({ db, clock, activity }, membership?.worker);
  metrics.watchDisk(databaseFolder(config));
  if (config.exportCommand) metrics.watchExports();
  const faults = new FaultLog(log);
  const tellFault: NoteFault = (fault, ...facts) => {
    metrics.noteFault(fault);
    faults.note(fault, ...facts);
  };
  const egress = openEgress(config, { ca, maxConnections });
  opened.add(() => egress.close());

  let lastRecorded: Date | null = null;
  const openDispatcher = () =>
    createDispatcher(config, foundations, {
      ...{ egress, metrics, writes, log, tracer },
      isGivenUp: () => lastWrites.areGivenUp,
      onRecorded: () => (lastRecorded = clock.now()),
      onInternalFault: (fault, ...facts) => {
        health.noteFault(fault);
        tellFault(fault, ...facts);
      },
      onError: orElse("dispatching failed: it is tried again, and no delivery is lost"),
    });
  const dispatcher = config.role === "api" ? null : openDispatcher();
  const activityWriter = startActivityWriter(db, activity, {
    processId,
    onError: orElse("writing activity failed: it is tried again, and deliveries are not affected"),
  });
  opened.add(() => activityWriter.stop());
  const identity = identify(processId, config.role, clock.now);
  const reporting = startReporting({ db, clock: clock.now }, identity, {
    ...{ dispatcher, ownProblems, lastRecorded: () => lastRecorded },
    onError: orElse(
      "reporting this process failed: it is tried again, and deliveries are not affected",
    ),
  });
  opened.add(() => reporting.stop());

  const nudging = startNudging({ db, clock: clock.now }, processId, dispatcher, membership);
  opened.add(() => nudging.stop());
  const deps = createDependencies({
    ...foundations,
    ownProblems,
    nudge: nudging.nudge,
    reserve: nudging.reserve,
    eventTypes,
    retentionMs: config.retentionMs,
    checkDestination: async (url, organizationId) => {
      const vetted = await egress.check(url, organizationId);
      if (!vetted.ok && vetted.refusal === "no_resolver")
        tellFault("no_resolver", {}, "a subscription could not be created");
      return vetted;
    },
    noteWrite: writes.note,
  });
  await startJobs(config, { deps, clock, url }, { log, opened, onInUse, orElse });
  // The first step of closing. Requests and attempts have ended, and only writes about this process remain.
  opened.add(() => lastWrites.begin());
  return { deps, dispatcher, health, metrics, outage, reporting };
}

/** What a process still writes when it stops. If the database does not take it in time, it is given up. */
class LastWrites {
  readonly #giveUp: () => void;
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;
  areGivenUp = false;

  constructor(db: Database, { shutdownGraceMs }: Config, log: Logger) {
    this.#ms = shutdownGraceMs / OWN_WRITES_SHARE;
    this.#giveUp = () => {
      this.areGivenUp = true;
      log.warn("stopping without waiting for statements that do not end");
      void db.end({ timeout: 0 });
    };
  }

  begin(): void {
    this.#timer = setTimeout(this.#giveUp, this.#ms);
  }

  haveEnded(): void {
    clearTimeout(this.#timer);
  }
}

/** Connects the engine to its receivers, and to what counts. */
function createDispatcher(
  config: Config,
  foundations: Foundations & { activity: ActivityLog },
  {
    egress,
    metrics,
    onRecorded,
    ...others
  }: { egress: Egress; metrics: Metrics; onRecorded: () => void } & Pick<
    EngineOptions,
    "writes" | "log" | "tracer" | "isGivenUp" | "onInternalFault" | "onError"
  >,
): Dispatcher {
  const { attemptTimeoutMs: timeoutMs, dispatchConcurrency, subscriptionConcurrency } = config;
  const pace = new Pace(createUtilization(), () => performance.now());
  const slots = new Slots(dispatchConcurrency, subscriptionConcurrency, pace, timeoutMs);
  metrics.watchAttempts(slots);
  return createEngine(foundations, config, {
    ...others,
    slots,
    send: createSender({ egress, clock: foundations.clock, timeoutMs, userAgent: USER_AGENT }),
    onEnded: (ended) => metrics.noteEnded(ended),
    onRecorded: (recorded) => {
      metrics.noteRecorded(recorded);
      countRecorded(foundations.activity, recorded);
      onRecorded();
    },
    onContended: createContentionLog(others.log),
  });
}

/** Starts what runs at intervals. */
async function startJobs(
  config: Config,
  { deps, clock, url }: { deps: Dependencies; clock: DatabaseClock; url: string },
  {
    log,
    opened,
    onInUse,
    orElse,
  }: {
    log: Logger;
    opened: Opened;
    onInUse: () => void;
    /** Returns what handles the errors of a job, and logs unforeseen ones with this message. */
    orElse: (message: string) => (error: unknown) => void;
  },
): Promise<void> {
  const { exportCommand: command, cell, retentionMs } = config;
  const maintenance = startMaintenance(deps, clock, {
    ...{ exportsHistory: command !== null, retentionMs },
    standstillMs: standstillMs(config),
    onInUse,
    onStalled: (sessions) => {
      log.warn(
        { sessions },
        "a process stalled during a statement: its database sessions were ended",
      );
    },
    onError: orElse("a step of maintenance failed: it is tried again"),
  });
  opened.add(() => maintenance.stop());
  if (command) {
    const onError = orElse("exporting history failed: it is kept, and the export is tried again");
    opened.add(startExporting(deps, { command, url, cell, retentionMs, log, onError }));
  }
  if (config.role !== "api") {
    opened.add(
      startRedelivering(deps, orElse("redelivering failed: it is tried again, and no job is lost")),
    );
  }
  if (config.role !== "dispatcher") {
    const announcing = await startAnnouncing(
      deps,
      log,
      orElse("announcing the event types of this process failed: it is tried again"),
    );
    opened.add(() => announcing.stop());
  }
}
