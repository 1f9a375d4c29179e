import { type Database, isUnavailable } from "../postgres/database.ts";
import { writeReadiness } from "../postgres/server.ts";

/** How long a write of our own may take. */
const WRITE_MS = 2_000;

/** Knows whether the database commits: from the writes of the service, and from one of our own. */
export class Writes {
  readonly #db: Database;
  readonly #limitMs: number;
  #failedAtMs = -Infinity;
  #checking: Promise<void> | undefined;

  constructor(db: Database, limitMs = WRITE_MS) {
    this.#db = db;
    this.#limitMs = limitMs;
  }

  /** Passes a write of the service on, and remembers whether the database did it. */
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

  /** Whether the last write of the service failed, at most `ms` ago. */
  hasFailed(ms = Number.MAX_VALUE): boolean {
    return performance.now() - this.#failedAtMs <= ms;
  }

  /** Writes one row, once for all who ask meanwhile. Throws if the database does not commit it in time. */
  check(): Promise<void> {
    return (this.#checking ??= writeReadiness(this.#db.within(this.#limitMs)).finally(
      () => (this.#checking = undefined),
    ));
  }
}
