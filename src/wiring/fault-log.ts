import type { Logger } from "pino";
import type { InternalFault } from "../domain/outcome.ts";

/** The public ids of the deliveries, subscriptions and organizations that an internal fault affects. */
export type Affected = Record<string, string>;

/** `error`: the exception, if the fault is one. Its stack is logged. */
export type NoteFault = (
  fault: InternalFault,
  affected: Affected,
  consequence: string,
  error?: unknown,
) => void;

/** A waiting delivery, and its fault, returns after a minute. */
const PERIOD_MS = 60_000;
const LINES_MAX = 20;

/**
 * Logs internal faults: the first ones of each minute one by one, and then their numbers. Faults come by the thousand, and a
 * line for each would fill the disk.
 */
export class FaultLog {
  readonly #log: Logger;
  readonly #counts = new Map<InternalFault, number>();
  #lines = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  note(fault: InternalFault, affected: Affected, consequence: string, err?: unknown): void {
    if (this.#counts.size === 0) setTimeout(() => this.#account(), PERIOD_MS).unref();
    this.#counts.set(fault, (this.#counts.get(fault) ?? 0) + 1);
    if (this.#lines >= LINES_MAX) return;
    this.#lines++;
    this.#log.error({ fault, ...affected, err }, `internal fault: ${consequence}`);
  }

  #account(): void {
    if (this.#lines === LINES_MAX) {
      const faults = Object.fromEntries(this.#counts);
      this.#log.error({ faults }, "internal faults of the last minute");
    }
    this.#counts.clear();
    this.#lines = 0;
  }
}
