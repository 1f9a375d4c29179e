import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config.ts";

/** Lines go out together: a write for each was a sixteenth of what an identity check costs. */
const TOGETHER = { minLength: 4096, periodicFlush: 100 };
/** Bytes that wait for whoever reads the log. Beyond that lines are dropped: a reader that hangs stops nothing. */
const UNREAD_MAX = 4 * 1024 * 1024;

/** JSON lines on standard output, within 100 ms. What could carry a token or a secret is cut out here, whoever logs it. */
export function createLogger(
  level: string,
  destination: DestinationStream = pino.destination({
    sync: false,
    maxLength: UNREAD_MAX,
    ...TOGETHER,
  }),
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
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

/** Says aloud at start what a test rig may have and production should not. */
export function warnOfExceptions({ egress, egressCaFile }: Config, log: Logger): void {
  const allowed = egress.allow.length;
  if (allowed > 0)
    log.warn({ allowed }, "EGRESS_ALLOW is set: addresses that are not public can be reached");
  if (egressCaFile)
    log.warn(
      { egressCaFile },
      "EGRESS_CA_FILE is set: receivers' certificates may be signed by it",
    );
}
