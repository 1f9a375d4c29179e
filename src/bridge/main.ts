import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { findUnfollowed } from "../config/fleet.ts";
import {
  duration,
  Environment,
  host,
  integer,
  LOG_LEVELS,
  oneOf,
  readOperatorApi,
} from "../config/settings.ts";
import { cannotListen } from "../http/listener.ts";
import { systemClock } from "../lib/clock.ts";
import { createLogger, openLogOutput } from "../observe/log.ts";
import { startBridge } from "./bridge.ts";
import { checkBridge } from "./check.ts";
import type { BridgeOptions } from "./command.ts";
import { readConfiguration, type SourceConfiguration } from "./configuration.ts";
import { createPublisher, type Publisher } from "./publisher.ts";

interface BridgeEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  userAgent: string;
  stdout: (text: string) => void;
}

interface BridgeConfig {
  publisher: Publisher;
  sources: SourceConfiguration[];
  host: string;
  port: number;
  logLevel: (typeof LOG_LEVELS)[number];
  shutdownGraceMs: number;
  /** A sentence for each variable of a fleet that the bridge does not follow. */
  unfollowed: string[];
}

/** Runs the bridge until `stop`, or checks its configuration. Returns false if the check or the stop fails. */
export async function bridge(
  options: BridgeOptions,
  environment: BridgeEnvironment,
  stop: AbortSignal,
): Promise<boolean> {
  const config = loadBridgeConfig(options.config, environment);
  const { publisher, sources, logLevel: level, unfollowed } = config;
  if (options.check) {
    const write = (line: string) => environment.stdout(`${line}\n`);
    const log = pino({ level: "silent" });
    return checkBridge({ sources, publisher, log, now: systemClock, write });
  }
  const output = await openLogOutput();
  const log = createLogger(level, output);
  for (const message of unfollowed) log.warn(message);
  const running = await startBridge({
    ...config,
    version: environment.version,
    now: systemClock,
    logOf: (source) => log.child({ source }),
  }).catch((error: unknown) => {
    throw cannotListen(config.host, config.port, error);
  });
  log.info({ url: running.url, sources: sources.map(({ name }) => name) }, "ready");
  await aborted(stop);
  const late = new AbortController();
  const isInTime = await Promise.race([
    running.stop().then(() => true),
    sleep(config.shutdownGraceMs, false, { signal: late.signal, ref: false }),
  ]);
  late.abort();
  if (!isInTime) log.error({}, "SHUTDOWN_GRACE is over: unacknowledged messages come again");
  log.info({}, "stopped");
  if ("flushSync" in output) (output as { flushSync: () => void }).flushSync();
  return isInTime;
}

/** Reads the environment and the file. Throws one error that names every fault of both. */
function loadBridgeConfig(
  path: string,
  { env, userAgent }: Omit<BridgeEnvironment, "stdout">,
): BridgeConfig {
  const variables = new Environment(env);
  const api = readOperatorApi(variables);
  for (const name of ["PARTNER_API_URL", "PARTNER_API_TOKEN"]) {
    if (!variables.isSet(name)) variables.fault(name, "must be set");
  }
  const config = {
    host: variables.value("BRIDGE_HOST", host, "127.0.0.1"),
    port: variables.value("BRIDGE_PORT", integer(0, 65_535), 8082),
    logLevel: variables.value("LOG_LEVEL", oneOf(LOG_LEVELS), "info"),
    shutdownGraceMs: variables.value("SHUTDOWN_GRACE", duration("0s", "1h"), 15_000),
    unfollowed: findUnfollowed(env, variables.names),
  };
  const faults = variables.faults;
  const readFile = (file: string) => readFileSync(file, "utf8");
  let sources: SourceConfiguration[] = [];
  try {
    sources = readConfiguration(readFile(path), { env, readFile }, faults);
  } catch (error) {
    faults.push(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? ""})`);
  }
  if (faults.length > 0 || api === null) {
    throw new Error(`configuration of the bridge:\n  ${faults.join("\n  ")}`);
  }
  return { ...config, sources, publisher: createPublisher({ ...api, userAgent }) };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
