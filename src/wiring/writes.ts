import { type Database, isUnavailable } from "../postgres/database.ts";
import { writeReadiness } from "../postgres/server.ts";

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
