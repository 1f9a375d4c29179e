import type { Logger } from "pino";
import { codeOf } from "../lib/objects.ts";
import { type Database, isUnavailable } from "../postgres/database.ts";
import { writeReadiness } from "../postgres/server.ts";

/** The operator's remedies for errors of the server and the network, by SQLSTATE or system code. */
const CURES: Record<string, string> = {
  ECONNREFUSED: "nothing listens there: start PostgreSQL, or correct host and port",
  ENOENT: "no socket is there: start PostgreSQL, or correct the folder",
  ENOTFOUND: "correct the host name",
  ERR_SOCKET_BAD_PORT: "correct PGPORT, or write the port into the URL",
  EAI_AGAIN: "the host name cannot be looked up now: check this machine's resolver",
  ETIMEDOUT: "correct host and port, or allow the connection in the firewall",
  EHOSTUNREACH: "correct the host, or the route to it",
  ENETUNREACH: "correct the host, or the route to it",
  "28P01": "correct the password",
  "28000":
    "create the role, allow it in pg_hba.conf, or add sslmode=verify-full or require if the server demands TLS",
  "3D000": "create the database, or correct its name",
  "42704": "remove the parameter from the URL, or correct its name",
  "42501": "grant the right, or use another role",
  "53300": "raise max_connections, or run fewer processes",
  "57P03": "wait until the server has started",
};

const TLS = /ssl|tls|certificate|self.signed/i;

/** Returns the error with the name of the URL's variable and a remedy. Errors without a code are ours and already clear. */
export function explainDatabaseFault(variable: string, error: unknown): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || code === "") return error;
  const cure = CURES[code] ?? (TLS.test(error.message) ? "correct sslmode or sslrootcert" : null);
  const words = `${variable}: ${error.message}`;
  return new Error(cure === null ? words : `${words}. To repair: ${cure}`, { cause: error });
}

interface Timing {
  /** How often the database is checked during an outage. */
  checkMs: number;
  /** The outage ends after this time without a failure. */
  quietMs: number;
  /** How often a lasting outage is logged. */
  remindMs: number;
}

const TIMING: Timing = { checkMs: 1_000, quietMs: 3_000, remindMs: 60_000 };

/**
 * Logs outages of the database: unreachable, overloaded, or without writes. It logs the start, the end, and a reminder at
 * intervals. During an outage, hundreds of calls fail in a second, and a line for each would fill the disk.
 */
export class Outage {
  readonly #writes: Writes;
  readonly #log: Logger;
  readonly #timing: Timing;
  #failures = 0;
  #lastFailureMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(writes: Writes, log: Logger, timing: Partial<Timing> = {}) {
    this.#writes = writes;
    this.#log = log;
    this.#timing = { ...TIMING, ...timing };
  }

  /** Notes a failure that the database caused. */
  note(err: unknown): void {
    this.#failures++;
    this.#lastFailureMs = performance.now();
    if (this.#timer) return;
    this.#log.error(
      { err },
      "the database is unavailable: deliveries wait and requests are refused",
    );
    this.#watch();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #watch(): void {
    const { checkMs, quietMs, remindMs } = this.#timing;
    const beganMs = performance.now();
    let toldMs = beganMs;
    let isAsking = false;
    const check = async () => {
      if (isAsking) return;
      isAsking = true;
      const isWell = await this.#writes.check().then(
        () => true,
        () => false,
      );
      isAsking = false;
      const now = performance.now();
      if (!isWell) this.#lastFailureMs = now;
      if (now - this.#lastFailureMs >= quietMs) this.#end(now - beganMs);
      else if (now - toldMs >= remindMs) {
        toldMs = now;
        this.#log.error(this.#account(now - beganMs), "the database is still unavailable");
      }
    };
    this.#timer = setInterval(() => void check(), checkMs).unref();
  }

  #end(lastedMs: number): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#log.info(this.#account(lastedMs), "the database is available again");
    this.#failures = 0;
  }

  #account(ms: number): { seconds: number; failures: number } {
    return { seconds: Math.round(ms / 1000), failures: this.#failures };
  }
}

/** The time limit of a check. */
const WRITE_MS = 2_000;

/** Knows whether the database commits. It watches the service's writes, and can write a row itself. */
export class Writes {
  readonly #db: Database;
  readonly #limitMs: number;
  #failedAtMs = -Infinity;
  #checking: Promise<void> | undefined;

  constructor(db: Database, limitMs = WRITE_MS) {
    this.#db = db;
    this.#limitMs = limitMs;
  }

  /** Returns the result of a write, and notes whether the database did it. */
  readonly note = async <Result>(write: Promise<Result>): Promise<Result> => {
    try {
      const result = await write;
      this.#failedAtMs = -Infinity;
      return result;
    } catch (error) {
      if (isUnavailable(error)) this.#failedAtMs = performance.now();
      throw error;
    }
  };

  /** Returns true if the service's last write failed, at most `ms` ago. */
  hasFailed(ms = Number.MAX_VALUE): boolean {
    return performance.now() - this.#failedAtMs <= ms;
  }

  /** Writes one row, once for all concurrent calls. Throws if the database does not commit it in time. */
  check(): Promise<void> {
    return (this.#checking ??= writeReadiness(this.#db.within(this.#limitMs)).finally(
      () => (this.#checking = undefined),
    ));
  }
}
