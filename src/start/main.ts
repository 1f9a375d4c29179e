import { setTimeout as sleep } from "node:timers/promises";
import type { DestinationStream, Logger } from "pino";
import type { Config } from "../config/config.ts";
import { openDesk } from "../http/docs/desk.ts";
import { BaseUrl, openListener } from "../http/listener.ts";
import { buildOperatorApp } from "../http/operator-app.ts";
import { buildPartnerApp } from "../http/partner-app.ts";
import { requireSafeExport } from "../jobs/history-exports.ts";
import { type ProcessId, randomId } from "../lib/ids.ts";
import { Opened } from "../lib/parts.ts";
import { VERSION } from "../lib/product.ts";
import { createLogger, openLogOutput, warnOfExceptions } from "../observe/log.ts";
import { measure } from "../observe/metrics.ts";
import { openTracing } from "../observe/tracing.ts";
import { createEventTypes } from "../subjects/event-types/rules.ts";
import type { Membership } from "../workers/index.ts";
import { planConnections } from "./descriptors.ts";
import { readReceiversCa, requireEgressSource, requireTls } from "./egress.ts";
import { openEventTypes } from "./event-types.ts";
import { adminTokenPath, openAdminTokens } from "./keys.ts";
import { openWork } from "./work.ts";
import { wholeOf } from "./workers.ts";

export interface Service {
  /** Null in a process with the operators' listener only. */
  partnerUrl: string | null;
  operatorUrl: string;
  /** Takes the node out of the load balancer: serves on for `DRAIN`, and reports that it is not ready. */
  drain(): Promise<void>;
  /** Accepts nothing new, waits for running requests and attempts, and closes everything. Logs `cause`, if there is one. */
  stop(cause?: Error): Promise<void>;
}

/**
 * Starts the service as configured. Resolves when it is ready. Default of `output`: standard output. `membership`: this process is
 * one of the service's workers.
 */
export async function start(
  config: Config,
  output?: DestinationStream,
  membership: Membership | null = null,
): Promise<Service> {
  const base = membership && { worker: membership.worker };
  const log = createLogger(config.logLevel, output ?? (await openLogOutput()), base);
  const opened = new Opened();
  try {
    return await open(config, membership, { log, opened });
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
async function open(
  config: Config,
  membership: Membership | null,
  { log, opened }: { log: Logger; opened: Opened },
): Promise<Service> {
  requireSafeExport(config);
  const ca = await readReceiversCa(config);
  if (config.role !== "api") {
    await requireEgressSource(config);
    requireTls();
  }
  const eventTypes =
    config.role === "dispatcher" ? createEventTypes() : await openEventTypes(config);
  const desk = config.desk && (await openDesk(config.desk, config));
  const connections = planConnections(config, log);
  const tokens = await openAdminTokens(config);
  const processId: ProcessId = randomId();
  const named = { id: processId, version: VERSION };
  const { tracer, close: closeTracing } = await openTracing(config.tracing, log, named);
  opened.add(closeTracing);

  const { deps, dispatcher, health, metrics, outage, reporting } = await openWork(
    config,
    { processId, eventTypes, tracer, ca, maxConnections: connections.receivers, membership },
    { log, opened },
  );
  const whole = membership ? wholeOf(membership, { health, metrics }) : { health, metrics };

  const baseUrl = new BaseUrl(config);
  const options = {
    logger: log,
    health: whole.health.forPartners,
    baseUrl: baseUrl.get,
    isStopping: () => health.isStopping,
    tracer,
    onUnavailable: (err: unknown) => outage.note(err),
  };
  const operatorApp = buildOperatorApp(deps, {
    ...options,
    health: whole.health.forOperators,
    maxConnections: connections.operators,
    tokens,
    allowedHosts: config.allowedHosts,
    metrics: () => whole.metrics.expose(),
    withApi: config.role !== "dispatcher",
  });
  const partnerApp =
    config.role === "dispatcher"
      ? null
      : buildPartnerApp(deps, {
          ...options,
          about: config,
          desk,
          maxConnections: connections.partners,
        });
  for (const app of [operatorApp, partnerApp]) if (app) measure(app, metrics);

  // Of the listeners, the operators' opens first and closes last, because it reports the state meanwhile.
  opened.add(() => operatorApp.close());
  opened.add(() => Promise.all([partnerApp?.close(), dispatcher?.stop()]));
  const operatorUrl = await openListener(operatorApp, config.operatorHost, config.operatorPort);
  const partnerUrl = partnerApp && (await openListener(partnerApp, config.host, config.port));
  if (partnerUrl) baseUrl.listensAt(partnerUrl);
  dispatcher?.start();
  const facts = {
    role: config.role,
    partners: partnerUrl,
    operators: operatorUrl,
    documentation: partnerUrl && `${baseUrl.get()}/docs`,
    console: config.role === "dispatcher" ? null : `${operatorUrl}/console`,
    token_file: config.adminTokens ? null : adminTokenPath(config.dataDir),
  };
  if (membership) membership.ready(facts);
  else warnOfExceptions(config, log);
  log.info(membership ? { pid: process.pid } : facts, membership ? "worker ready" : "ready");

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
