import type { ProcessId } from "../domain/ids.ts";
import type { Logger } from "pino";
import type { ActivityLog } from "../actions/activity-log.ts";
import { countRecorded } from "../actions/counted-activity.ts";
import { createDependencies } from "../actions/create-dependencies.ts";
import type { Dependencies } from "../actions/dependencies.ts";
import { requireRingInUse } from "../actions/reseal.ts";
import type { Config } from "../config.ts";
import type { Dispatcher, DispatcherOptions } from "../delivery/dispatcher.ts";
import type { Send } from "../delivery/sender.ts";
import type { Slots } from "../delivery/slots.ts";
import type { EventTypes } from "../domain/event-types.ts";
import type { Problem } from "../domain/overview.ts";
import type { Tracer } from "../lib/tracing.ts";
import { isUnavailable } from "../postgres/database.ts";
import { startActivityWriter } from "./activity-writer.ts";
import { openDatabase, standstillMs } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { openFoundations } from "./dependencies.ts";
import { createEngine } from "./engine.ts";
import { startAnnouncing } from "./event-types.ts";
import type { NoteFault } from "./fault-log.ts";
import { startExporting } from "./history-exports.ts";
import { startMaintenance, turnPartitions } from "./maintenance.ts";
import type { Metrics } from "./metrics.ts";
import { Opened } from "./opened.ts";
import { Outage } from "./outage.ts";
import { identify, type Reporting, startReporting } from "./process-reports.ts";
import { startNudging } from "./nudging.ts";
import { startRedelivering } from "./redeliveries.ts";
import type { ShardHealth } from "./shard-health.ts";
import { Writes } from "./writes.ts";

/** How long a request waits for the database. A frozen server must not fill the connection pool. */
const REQUEST_MS = 10_000;
/** The part of the grace after which a stop abandons the last writes. */
const OWN_WRITES_SHARE = 4;

/** What attempts need. */
export interface Sending {
  send: Send;
  slots: Slots;
}

/** The parts of the process that all shards share. */
export interface SharedParts {
  eventTypes: EventTypes;
  checkDestination: Dependencies["checkDestination"];
  /** Null in a process that makes no attempts. */
  sending: Sending | null;
  processId: ProcessId;
  metrics: Metrics;
  tracer: Tracer;
  ownProblems: () => Promise<Problem[]>;
  onContended: DispatcherOptions["onContended"];
  onInternalFault: NoteFault;
}

/** The parts of the process that work on one shard. */
export interface OpenShard {
  deps: Dependencies;
  clock: DatabaseClock;
  activity: ActivityLog;
  dispatcher: Dispatcher | null;
  outage: Outage;
  reporting: Reporting;
  /** At a stop: abandons the shard's work if its database is away. */
  giveUpIfAway: () => Promise<void>;
}

/** Opens the shard that `config` names. Each step that opens something adds it to `opened` at once. */
export async function openShard(
  config: Config,
  parts: SharedParts,
  { log, health, opened }: { log: Logger; health: ShardHealth; opened: Opened },
): Promise<OpenShard> {
  const { db, url, close } = await openDatabase(config, (message) => log.info(message), {
    writesRetention: true,
    patienceMs: REQUEST_MS,
  });
  let isGivenUp = false;
  const giveUp = async () => {
    if (isGivenUp) return;
    isGivenUp = true;
    log.warn("stopping without waiting for statements that do not end");
    await db.end({ timeout: 0 });
  };
  let givingUp: NodeJS.Timeout | undefined;
  opened.add(async () => {
    await close();
    clearTimeout(givingUp);
  });
  const writes = new Writes(db);
  const outage = new Outage(writes, log);
  opened.add(() => outage.stop());
  const orElse = (message: string) => (err: unknown) => {
    if (!isUnavailable(err)) log.error({ err }, message);
    else if (!isGivenUp) outage.note(err);
  };

  const { foundations, clock } = await openFoundations(config, db, {
    onCancelFailed: orElse(
      "cancelling queued deliveries failed: the rest is cancelled when it is due",
    ),
  });
  opened.add(() => foundations.cancelling.stopCancelling());
  await requireRingInUse(foundations);
  const onInUse = () => log.warn("tables are in use: partitions will be created and dropped later");
  const exportsHistory = config.exportCommand !== null;
  await turnPartitions(foundations, { exportsHistory, onInUse });
  health.watch({ db, writes, clock, ring: foundations.ring });

  const { activity } = foundations;
  const { metrics, ownProblems, sending } = parts;
  let lastRecorded: Date | null = null;
  const dispatcher =
    sending === null
      ? null
      : createEngine(foundations, config, {
          send: sending.send,
          slots: sending.slots,
          writes,
          isGivenUp: () => isGivenUp,
          log,
          tracer: parts.tracer,
          onEnded: (ended) => metrics.noteEnded(ended),
          onRecorded: (recorded) => {
            metrics.noteRecorded(recorded);
            countRecorded(activity, recorded);
            lastRecorded = clock.now();
          },
          onContended: parts.onContended,
          onInternalFault: parts.onInternalFault,
          onError: orElse("dispatching failed: it is tried again, and no delivery is lost"),
        });
  const activityWriter = startActivityWriter(db, activity, {
    processId: parts.processId,
    onError: orElse("writing activity failed: it is tried again, and deliveries are not affected"),
  });
  opened.add(() => activityWriter.stop());
  const identity = identify(parts.processId, config.role, clock.now);
  const reporting = startReporting({ db, clock: clock.now }, identity, {
    ...{ dispatcher, ownProblems, lastRecorded: () => lastRecorded },
    onError: orElse(
      "reporting this process failed: it is tried again, and deliveries are not affected",
    ),
  });
  opened.add(() => reporting.stop());

  const nudging = startNudging({ db, clock: clock.now }, parts.processId, dispatcher);
  opened.add(() => nudging.stop());
  const deps = createDependencies({
    ...foundations,
    ownProblems,
    nudge: nudging.nudge,
    reserve: nudging.reserve,
    eventTypes: parts.eventTypes,
    retentionMs: config.retentionMs,
    checkDestination: parts.checkDestination,
    noteWrite: writes.note,
  });
  const maintenance = startMaintenance(deps, clock, {
    ...{ exportsHistory, retentionMs: config.retentionMs },
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
  if (config.exportCommand) {
    const { exportCommand: command, shard, retentionMs } = config;
    const onError = orElse("exporting history failed: it is kept, and the export is tried again");
    opened.add(startExporting(deps, { command, url, shard, retentionMs, log, onError }));
  }
  if (dispatcher)
    opened.add(
      startRedelivering(deps, orElse("redelivering failed: it is tried again, and no job is lost")),
    );
  if (config.role !== "dispatcher") {
    const announcing = await startAnnouncing(
      deps,
      log,
      orElse("announcing the event types of this process failed: it is tried again"),
    );
    opened.add(() => announcing.stop());
  }
  // The first step of closing. Requests and attempts have ended, and only writes about this process remain.
  opened.add(() => {
    givingUp = setTimeout(() => void giveUp(), config.shutdownGraceMs / OWN_WRITES_SHARE);
  });
  const giveUpIfAway = () => writes.check().catch(giveUp);
  return { deps, clock, activity, dispatcher, outage, reporting, giveUpIfAway };
}
