import type { Logger } from "pino";
import type { Writes } from "./writes.ts";

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
