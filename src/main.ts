import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { countRecorded } from "./actions/counted-activity.ts";
import { createDependencies } from "./actions/create-dependencies.ts";
import { requireRingInUse } from "./actions/reseal.ts";
import type { Config } from "./config.ts";
import { createSender } from "./delivery/sender.ts";
import { createEventTypes } from "./domain/event-types.ts";
import { buildOperatorApp } from "./http/operator/app.ts";
import { buildPartnerApp } from "./http/partner/app.ts";
import { isUnavailable } from "./postgres/database.ts";
import { startActivityWriter } from "./wiring/activity-writer.ts";
import { adminTokenPath, openAdminTokens } from "./wiring/admin-tokens.ts";
import { databaseFolder, openDatabase, standstillMs } from "./wiring/database.ts";
import { openFoundations } from "./wiring/dependencies.ts";
import { planConnections } from "./wiring/descriptors.ts";
import { openDestinations } from "./wiring/destinations.ts";
import { requireEgressSource } from "./wiring/egress-source.ts";
import { createEngine } from "./wiring/engine.ts";
import { openEventTypes, startAnnouncing } from "./wiring/event-types.ts";
import { FaultLog, type NoteFault } from "./wiring/fault-log.ts";
import { Readiness } from "./wiring/health.ts";
import { startExporting } from "./wiring/history-exports.ts";
import { openLogOutput } from "./wiring/log-output.ts";
import { createLogger, warnOfExceptions } from "./wiring/logger.ts";
import { startMaintenance, turnPartitions } from "./wiring/maintenance.ts";
import { openListener, urlOf } from "./wiring/listener.ts";
import { createMetrics, measure } from "./wiring/metrics.ts";
import { datedProblems, identify, startReporting } from "./wiring/process-reports.ts";
import { Opened } from "./wiring/opened.ts";
import { Outage } from "./wiring/outage.ts";
import { startNudging } from "./wiring/nudging.ts";
import { USER_AGENT } from "./wiring/product.ts";
import { startRedelivering } from "./wiring/redeliveries.ts";
import { readReceiversCa } from "./wiring/receivers-ca.ts";
import { openTracing } from "./wiring/tracing.ts";
import { Writes } from "./wiring/writes.ts";

/** How long a request waits for the database. A frozen server must not fill the connection pool. */
const REQUEST_MS = 10_000;

export interface Service {
  /** Null in a process with the operators' listener only. */
  partnerUrl: string | null;
  operatorUrl: string;
  /** Takes the node out of the load balancer: serves on for `DRAIN`, and reports that it is not ready. */
  drain(): Promise<void>;
  /** Accepts nothing new, waits for running requests and attempts, and closes everything. Logs `cause`, if there is one. */
  stop(cause?: Error): Promise<void>;
}

/** Starts the service as configured. Resolves when it is ready. */
export async function start(config: Config): Promise<Service> {
  const log = createLogger(config.logLevel, await openLogOutput());
  const opened = new Opened();
  try {
    return await open(config, log, opened);
  } catch (error) {
    const onError = (err: unknown) => log.error({ err }, "some resources could not be closed");
    await opened.close().catch(onError);
    throw error;
  }
}

/** Each step that opens something adds it to `opened` at once. */
async function open(config: Config, log: Logger, opened: Opened): Promise<Service> {
  if (config.shards.length > 1) throw new Error("SHARDS: the service serves one shard only");
  const extraCa = await readReceiversCa(config);
  if (config.role !== "api") await requireEgressSource(config);
  const eventTypes =
    config.role === "dispatcher" ? createEventTypes() : await openEventTypes(config);
  const say = (message: string) => log.info(message);
  const connections = planConnections(config, log);
  const { db, url, close } = await openDatabase(config, say, {
    writesRetention: true,
    patienceMs: REQUEST_MS,
  });
  opened.add(close);
  const writes = new Writes(db);
  const outage = new Outage(writes, log);
  opened.add(() => outage.stop());
  const orElse = (message: string) => (err: unknown) => {
    if (isUnavailable(err)) outage.note(err);
    else log.error({ err }, message);
  };

  const tokens = await openAdminTokens(config);
  const { foundations, clock } = await openFoundations(config, db, {
    onCancelFailed: orElse("cancelling queued deliveries failed"),
  });
  opened.add(() => foundations.cancelling.stopCancelling());
  await requireRingInUse(foundations);
  const onInUse = () => log.warn("tables are in use: partitions will be created and dropped later");
  const exportsHistory = config.exportCommand !== null;
  await turnPartitions(foundations, { exportsHistory, onInUse });

  const health = new Readiness({ db, writes, clock, ring: foundations.ring });
  const ownProblems = datedProblems(() => health.forOperators.ready(), clock.now);
  const identity = identify(config.role, clock.now);
  const { tracer, close: closeTracing } = await openTracing(config.tracing, log, identity);
  opened.add(closeTracing);
  const { activity } = foundations;
  const metrics = createMetrics(db, clock.now);
  metrics.watchMachine({ clock, databaseFolder: databaseFolder(config) });
  const faults = new FaultLog(log);
  const tellFault: NoteFault = (fault, ...facts) => {
    metrics.noteFault(fault);
    faults.note(fault, ...facts);
  };
  const destinations = openDestinations(config, () => {
    tellFault("no_resolver", {}, "a subscription could not be created");
  });
  opened.add(() => destinations.close());

  const sender = createSender({
    check: destinations.forDeliveries,
    clock: clock.now,
    timeoutMs: config.attemptTimeoutMs,
    userAgent: USER_AGENT,
    extraCa,
    maxConnections: connections.receivers,
    source: config.egressSource,
  });
  opened.add(() => sender.close());
  let lastRecorded: Date | null = null;
  const dispatcher =
    config.role === "api"
      ? null
      : createEngine(foundations, config, {
          send: (post) => sender.send(post),
          writes,
          log,
          tracer,
          onEnded: (ended) => metrics.noteEnded(ended),
          onRecorded: (recorded) => {
            metrics.noteRecorded(recorded);
            countRecorded(activity, recorded);
            lastRecorded = clock.now();
          },
          onInternalFault: (fault, ...facts) => {
            health.noteFault(fault);
            tellFault(fault, ...facts);
          },
          onError: orElse("dispatching failed"),
        });
  metrics.watchAttempts(dispatcher ?? { inFlight: 0 });
  metrics.watchDeliveries({ db, clock: clock.now, activity });
  const activityWriter = startActivityWriter(db, activity, {
    processId: identity.id,
    onError: orElse("writing activity failed"),
  });
  opened.add(() => activityWriter.stop());
  const reporting = startReporting({ db, clock: clock.now }, identity, {
    ...{ dispatcher, ownProblems, lastRecorded: () => lastRecorded },
    onError: orElse("reporting this process failed"),
  });
  opened.add(() => reporting.stop());

  const nudging = startNudging(db, dispatcher);
  opened.add(() => nudging.stop());
  const deps = createDependencies({
    ...foundations,
    ownProblems,
    nudge: nudging.nudge,
    reserve: nudging.reserve,
    eventTypes,
    retentionMs: config.retentionMs,
    checkDestination: destinations.forRequests,
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
    onError: orElse("maintenance failed"),
  });
  opened.add(() => maintenance.stop());
  if (config.exportCommand) {
    const { exportCommand: command, retentionMs } = config;
    const onError = orElse("history is not exported");
    opened.add(startExporting(deps, { command, url, retentionMs, log, onError }));
    metrics.watchExports(db);
  }
  if (dispatcher) opened.add(startRedelivering(deps, orElse("redelivering failed")));
  if (config.role !== "dispatcher") {
    const announcing = await startAnnouncing(deps, log, orElse("announcing event types failed"));
    opened.add(() => announcing.stop());
  }

  let partnerUrl: string | null = null;
  const options = {
    logger: log,
    health: health.forPartners,
    baseUrl: () => config.baseUrl ?? partnerUrl ?? urlOf(config.host, config.port),
    isStopping: () => health.isStopping,
    tracer,
    onUnavailable: (err: unknown) => {
      outage.note(err);
    },
  };
  const operatorApp = buildOperatorApp(deps, {
    ...options,
    health: health.forOperators,
    maxConnections: connections.operators,
    tokens,
    allowedHosts: config.allowedHosts,
    metrics: () => metrics.expose(),
    withApi: config.role !== "dispatcher",
  });
  const partnerApp =
    config.role === "dispatcher"
      ? null
      : buildPartnerApp(deps, { ...options, about: config, maxConnections: connections.partners });
  for (const app of [operatorApp, partnerApp]) if (app) measure(app, metrics);

  // Of the listeners, the operators' opens first and closes last, because it reports the state meanwhile.
  opened.add(() => operatorApp.close());
  opened.add(() => Promise.all([partnerApp?.close(), dispatcher?.stop()]));
  const operatorUrl = await openListener(operatorApp, config.operatorHost, config.operatorPort);
  if (partnerApp) partnerUrl = await openListener(partnerApp, config.host, config.port);
  dispatcher?.start();
  warnOfExceptions(config, log);
  log.info(
    {
      role: config.role,
      partners: partnerUrl,
      operators: operatorUrl,
      documentation: partnerUrl && `${options.baseUrl()}/docs`,
      console: config.role === "dispatcher" ? null : `${operatorUrl}/console`,
      token_file: config.adminTokens ? null : adminTokenPath(config.dataDir),
    },
    "ready",
  );

  return {
    partnerUrl,
    operatorUrl,
    drain: async () => {
      health.noteStopping();
      if (config.drainMs === 0) return;
      log.info(
        { ms: config.drainMs },
        "draining: waiting until load balancers send no more requests",
      );
      await sleep(config.drainMs);
    },
    stop: async (cause) => {
      if (cause) log.fatal({ err: cause }, "unexpected error: stopping the service");
      health.noteStopping();
      reporting.noteStopping();
      log.info("stopping: finishing requests and attempts in flight");
      await opened.close();
      log.info("stopped");
    },
  };
}
