import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config.ts";
import { standardOutput } from "./log-output.ts";
import { timeOfLine } from "./log-time.ts";
import { warningsOf } from "./warnings.ts";

/** Logs JSON lines. Tokens and secrets are removed here for all callers. */
export function createLogger(
  level: string,
  destination: DestinationStream = standardOutput(),
): Logger {
  const options = {
    level,
    base: null,
    timestamp: timeOfLine,
    redact: {
      paths: [...SECRET_PATHS, ...ROW_PATHS],
      censor: "[redacted]",
    },
  };
  return pino(options, destination);
}

const NAMES = ["authorization", "token", "secret", "signingSecret", "sealed_secret", "body"];
const SECRET_PATHS = NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** The members in which PostgreSQL quotes a refused row. */
const ROW_PATHS = ["err.detail", "err.where"];

/** Logs the warnings about settings that are unfit for production. */
export function warnOfExceptions(config: Config, log: Logger): void {
  for (const { message, facts = {} } of warningsOf(config)) log.warn(facts, message);
}
