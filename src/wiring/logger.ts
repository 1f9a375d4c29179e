import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { standardOutput } from "./log-output.ts";
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

let second = NaN;
let textOfSecond = "";

/** Like pino's `isoTime`, which builds the whole text each time. That took a fortieth of an identity check's time. */
export function timeOfLine(): string {
  const now = systemClock().getTime();
  const ms = now % 1000;
  if (now - ms !== second) {
    second = now - ms;
    textOfSecond = new Date(second).toISOString().slice(0, -"000Z".length);
  }
  return `,"time":"${textOfSecond}${String(ms).padStart(3, "0")}Z"`;
}
