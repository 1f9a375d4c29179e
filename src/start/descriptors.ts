import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { DRAINING_MAX } from "../egress/index.ts";
import { CONNECTIONS_MAX } from "../http/build-app.ts";

/** The largest number of open connections of each part of the process. */
interface ConnectionBounds {
  partners: number;
  operators: number;
  receivers: number;
}

type Settings = Pick<Config, "role" | "dispatchConcurrency">;

/** For the pool, the connection that listens, the pipes of EXPORT_COMMAND, resolvers and files. */
const RESERVE = 100;
/** With fewer, the listeners and the attempts would have too little. */
const CONNECTIONS_LEAST = 156;
/** Idle connections to receivers that are worth keeping. */
const KEPT_MAX = 3_000;
/** The operators' listener gets one in this many of the listeners' descriptors. */
const OPERATORS_PART = 8;

/**
 * Divides the descriptors of this process, so that clients cannot take those of deliveries or the database. Throws if there are
 * too few.
 */
export function planConnections(
  config: Settings,
  log: Logger,
  descriptors = descriptorsMax(),
): ConnectionBounds {
  const least = RESERVE + CONNECTIONS_LEAST;
  if (descriptors < least) {
    throw new Error(`the limit of open files is ${descriptors}: the service needs ${least}`);
  }
  const bounds = shareDescriptors(descriptors, config);
  log.info({ descriptors, ...bounds }, "connection limits");
  if (config.role !== "api" && bounds.receivers < attemptsNeed(config)) {
    log.warn({ descriptors }, "the limit of open files is too low for DISPATCH_CONCURRENCY");
  }
  return bounds;
}

export function shareDescriptors(descriptors: number, config: Settings): ConnectionBounds {
  const all = descriptors - RESERVE;
  const wanted = config.role === "api" ? 0 : attemptsNeed(config) + KEPT_MAX;
  const receivers = Math.min(wanted, Math.floor(all / 2));
  const rest = all - receivers;
  if (config.role === "dispatcher") {
    return { partners: 0, operators: Math.min(rest, CONNECTIONS_MAX), receivers };
  }
  const operators = Math.min(Math.floor(rest / OPERATORS_PART), CONNECTIONS_MAX);
  return { partners: Math.min(rest - operators, CONNECTIONS_MAX), operators, receivers };
}

function attemptsNeed({ dispatchConcurrency }: Settings): number {
  return dispatchConcurrency + DRAINING_MAX;
}

/** Node.js raises its own limit as far as it may. Infinity: no limit. */
function descriptorsMax(): number {
  const { userLimits } = process.report.getReport() as Report;
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Infinity;
}

/** The part of Node.js' report that we read. Windows has no such limits. */
interface Report {
  userLimits?: { open_files?: { soft: number | "unlimited" } };
}
