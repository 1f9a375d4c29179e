import type { Logger } from "pino";
import type { InternalFault } from "../domain/outcome.ts";

/** What a fault of our own keeps from being done, by its public names. */
export type Hindered = Record<string, string>;

/** `error`: the exception that is the fault. Its stack is logged. */
export type NoteFault = (
  fault: InternalFault,
  hindered: Hindered,
  consequence: string,
  error?: unknown,
) => void;

/** A delivery that waits comes back after a minute, and its fault with it. */
const PERIOD_MS = 60_000;
const LINES_MAX = 20;

/**
 * Tells of faults of our own: the first ones of a minute each by name, and at its end how many there were. They come
 * by the thousand, for everything that waits, and a line for each would fill the disk.
 */
export class FaultLog {
  readonly #log: Logger;
  readonly #counts = new Map<InternalFault, number>();
  #lines = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  note(fault: InternalFault, hindered: Hindered, consequence: string, err?: unknown): void {
    if (this.#counts.size === 0) setTimeout(() => this.#account(), PERIOD_MS).unref();
    this.#counts.set(fault, (this.#counts.get(fault) ?? 0) + 1);
    if (this.#lines >= LINES_MAX) return;
    this.#lines++;
    this.#log.error({ fault, ...hindered, err }, `a fault of our own: ${consequence}`);
  }

  #account(): void {
    if (this.#lines === LINES_MAX) {
      const faults = Object.fromEntries(this.#counts);
      this.#log.error({ faults }, "faults of our own within a minute, all together");
    }
    this.#counts.clear();
    this.#lines = 0;
  }
}
