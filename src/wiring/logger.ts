import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config.ts";
import { standardOutput } from "./log-output.ts";
import { timeOfLine } from "./log-time.ts";
import { warningsOf } from "./warnings.ts";

/** JSON lines. What could carry a token or a secret is cut out here, whoever logs it. */
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

/** Where PostgreSQL quotes the row that it refuses. */
const ROW_PATHS = ["err.detail", "err.where"];

/** Warns at the start of what production should not have, or should have thought of. */
export function warnOfExceptions(config: Config, log: Logger): void {
  for (const { message, facts = {} } of warningsOf(config)) log.warn(facts, message);
}
