import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "../config.ts";
import { isWildcard } from "../config/formats.ts";
import { standardOutput } from "./log-output.ts";
import { timeOfLine } from "./log-time.ts";

/** JSON lines on standard output, within 100 ms. What could carry a token or a secret is cut out here, whoever logs it. */
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

const LOOPBACK = /^(?:localhost|127\.[\d.]+|::1)$/;

/** Says aloud at start what production should not have, or should have thought of. */
export function warnOfExceptions(
  { egress, egressCaFile, role, host, baseUrl, operatorHost, allowedHosts }: Config,
  log: Logger,
): void {
  if (!LOOPBACK.test(operatorHost))
    log.warn(
      { operatorHost },
      "other machines may reach the operators' listener, and it speaks plain HTTP",
    );
  if (role !== "dispatcher" && allowedHosts.includes("*"))
    log.warn(
      "ALLOWED_HOSTS is *: any web page can ask the operators' listener from an operator's browser",
    );
  if (role !== "dispatcher" && isWildcard(host) && baseUrl === null)
    log.warn(
      { host },
      "BASE_URL is not set: errors and documents name an address of this machine's own",
    );
  const allowed = egress.allow.length;
  if (allowed > 0)
    log.warn({ allowed }, "EGRESS_ALLOW is set: addresses that are not public can be reached");
  if (egressCaFile)
    log.warn(
      { egressCaFile },
      "EGRESS_CA_FILE is set: receivers' certificates may be signed by it",
    );
}
