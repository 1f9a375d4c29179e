import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import type { DestinationStream, Logger } from "pino";
import { isAway } from "./actions/everywhere.ts";
import { spreadEndedSessions } from "./actions/sessions.ts";
import { clockOf, Shards } from "./actions/shards.ts";
import type { Config } from "./config.ts";
import { createSender, type SenderOptions } from "./delivery/sender.ts";
import { Pace } from "./delivery/pace.ts";
import { Slots } from "./delivery/slots.ts";
import { createEventTypes } from "./domain/event-types.ts";
import { type ProcessId, randomId } from "./domain/ids.ts";
import { openDesk } from "./http/docs/desk.ts";
import { buildOperatorApp } from "./http/operator/app.ts";
import { buildPartnerApp } from "./http/partner/app.ts";
import { adminTokenPath, openAdminTokens } from "./wiring/admin-tokens.ts";
import { createContentionLog } from "./wiring/contention-log.ts";
import { databaseFolder } from "./wiring/database.ts";
import { rulesOf } from "./wiring/dependencies.ts";
import { planConnections } from "./wiring/descriptors.ts";
import { openEgress, readReceiversCa, requireEgressSource } from "./wiring/egress.ts";
import { openEventTypes } from "./wiring/event-types.ts";
import { requireSafeExport } from "./wiring/export-rights.ts";
import { FaultLog, type NoteFault } from "./wiring/fault-log.ts";
import { Readiness } from "./wiring/health.ts";
import { openLogOutput } from "./wiring/log-output.ts";
import { createLogger, warnOfExceptions } from "./wiring/logger.ts";
import { BaseUrl, openListener } from "./wiring/listener.ts";
import { createMetrics, measure } from "./wiring/metrics.ts";
import { datedProblems } from "./wiring/process-reports.ts";
import { Opened } from "./wiring/opened.ts";
import { USER_AGENT, VERSION } from "./wiring/product.ts";
import { openTracing } from "./wiring/tracing.ts";
import { repeat } from "./wiring/repeat.ts";
import { RunningShards } from "./wiring/running-shards.ts";
import type { Sending } from "./wiring/shard.ts";
import { ShardHealth } from "./wiring/shard-health.ts";
import { createUtilization } from "./wiring/utilization.ts";
import type { WatchedShard } from "./wiring/shard-metrics.ts";

/** How soon a shard that was away knows the sessions that ended meanwhile. */
const SPREAD_SESSIONS_MS = 5_000;

export interface Service {
  /** Null in a process with the operators' listener only. */
  partnerUrl: string | null;
  operatorUrl: string;
  /** Takes the node out of the load balancer: serves on for `DRAIN`, and reports that it is not ready. */
  drain(): Promise<void>;
  /** Accepts nothing new, waits for running requests and attempts, and closes everything. Logs `cause`, if there is one. */
  stop(cause?: Error): Promise<void>;
}

/** Starts the service as configured. Resolves when it is ready. Default of `output`: standard output. */
export async function start(config: Config, output?: DestinationStream): Promise<Service> {
  const log = createLogger(config.logLevel, output ?? (await openLogOutput()));
  const opened = new Opened();
  try {
    return await open(config, log, opened);
  } catch (error) {
    const onError = (err: unknown) =>
      log.error(
        { err },
        "parts of the failed start could not be closed: they end with the process",
      );
    await opened.close().catch(onError);
    throw error;
  }
}

/** Each step that opens something adds it to `opened` at once. */
async function open(config: Config, log: Logger, opened: Opened): Promise<Service> {
  requireSafeExport(config);
  const ca = await readReceiversCa(config);
  if (config.role !== "api") await requireEgressSource(config);
  const eventTypes =
    config.role === "dispatcher" ? createEventTypes() : await openEventTypes(config);
  const desk = config.desk && { ...config, ...(await openDesk(config.desk)) };
  const connections = planConnections(config, log);
  const tokens = await openAdminTokens(config);
  const processId: ProcessId = randomId();
  const named = { id: processId, version: VERSION };
  const { tracer, close: closeTracing } = await openTracing(config.tracing, log, named);
  opened.add(closeTracing);

  const healths = config.shards.map(({ shard }) => new ShardHealth(shard));
  const health = new Readiness(healths);
  const watched: WatchedShard[] = [];
  const metrics = createMetrics(watched);
  metrics.watchDisk(databaseFolder(config));
  if (config.exportCommand) metrics.watchExports();
  const faults = new FaultLog(log);
  const tellFault: NoteFault = (fault, ...facts) => {
    metrics.noteFault(fault);
    faults.note(fault, ...facts);
  };
  const egress = openEgress(config, { ca, maxConnections: connections.receivers });
  opened.add(() => egress.close());

  const running = new RunningShards(config, log, healths);
  const { platformOrganization, retentionMs } = config;
  const ownProblems = datedProblems(async () => {
    const checks = await Promise.all([health.forOperators.ready(), health.checkShards()]);
    return checks.flat();
  }, clockOf(running.all));
  const shards = new Shards(running.all, {
    ...{ eventTypes, platformOrganization, retentionMs, ownProblems },
    rules: rulesOf(config),
  });
  const sending =
    config.role === "api" ? null : openSending(config, { egress, clock: shards.clock });
  if (sending) metrics.watchAttempts(sending.slots);
  opened.add(() => running.close());
  await running.open({
    ...{ processId, eventTypes, sending, metrics, tracer },
    ownProblems,
    checkDestination: async (url, organizationId) => {
      const vetted = await egress.check(url, organizationId);
      if (!vetted.ok && vetted.refusal === "no_resolver")
        tellFault("no_resolver", {}, "a subscription could not be created");
      return vetted;
    },
    onContended: createContentionLog(log),
    onInternalFault: (fault, ...facts) => {
      health.noteFault(fault);
      tellFault(fault, ...facts);
    },
    watched,
  });
  if (shards.others.length > 0) {
    const onError = (err: unknown) => {
      if (!isAway(err)) log.error({ err }, "sign-outs could not be copied to all shards");
    };
    opened.add(repeat(SPREAD_SESSIONS_MS, () => spreadEndedSessions(shards), onError));
  }

  const baseUrl = new BaseUrl(config);
  const options = {
    logger: log,
    health: health.forPartners,
    baseUrl: baseUrl.get,
    isStopping: () => health.isStopping,
    tracer,
    onUnavailable: (err: unknown, { deps }: FastifyRequest) => running.noteOutage(err, deps),
  };
  const operatorApp = buildOperatorApp(shards, {
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
      : buildPartnerApp(shards, {
          ...options,
          about: config,
          desk,
          maxConnections: connections.partners,
        });
  for (const app of [operatorApp, partnerApp]) if (app) measure(app, metrics);

  // Of the listeners, the operators' opens first and closes last, because it reports the state meanwhile.
  opened.add(() => operatorApp.close());
  opened.add(() => Promise.all([partnerApp?.close(), running.stopDispatching()]));
  const operatorUrl = await openListener(operatorApp, config.operatorHost, config.operatorPort);
  const partnerUrl = partnerApp && (await openListener(partnerApp, config.host, config.port));
  if (partnerUrl) baseUrl.listensAt(partnerUrl);
  running.startDispatching();
  warnOfExceptions(config, log);
  log.info(
    {
      role: config.role,
      partners: partnerUrl,
      operators: operatorUrl,
      documentation: partnerUrl && `${baseUrl.get()}/docs`,
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
      running.noteStopping();
      log.info("stopping: finishing requests and attempts in flight");
      await opened.close();
      log.info("stopped");
    },
  };
}

/** What attempts need, for a process that makes any. */
function openSending(config: Config, parts: Pick<SenderOptions, "egress" | "clock">): Sending {
  const timeoutMs = config.attemptTimeoutMs;
  const slots = new Slots(
    config.dispatchConcurrency,
    config.subscriptionConcurrency,
    new Pace(createUtilization(), () => performance.now()),
    timeoutMs,
  );
  return { send: createSender({ ...parts, timeoutMs, userAgent: USER_AGENT }), slots };
}
