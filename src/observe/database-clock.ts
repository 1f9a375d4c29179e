import { after, SKEW_MAX_MS, systemClock } from "../lib/clock.ts";
import { clockSkewMs, type Database } from "../postgres/database.ts";

/** How long the database may take to return its time. */
const ANSWER_MS = 3_000;

/**
 * Returns the machine's time while it is right, and otherwise the database's. So a node whose clock is an hour off attempts
 * nothing early and spoils no rate window of other nodes. A step of the machine's clock shows at once against the monotonic
 * clock. Drift shows at the next `measure`.
 */
export class DatabaseClock {
  readonly #db: Database;
  readonly #system: () => Date;
  readonly #monotonicMs: () => number;
  #isAsking = false;
  #measured: { skewMs: number; systemMs: number; monotonicMs: number };

  constructor(db: Database, system = systemClock, monotonicMs = () => performance.now()) {
    this.#db = db;
    this.#system = system;
    this.#monotonicMs = monotonicMs;
    this.#measured = { skewMs: 0, ...this.#read() };
  }

  /** The last known time that the database's clock is ahead of ours. */
  get skewMs(): number {
    return this.#skewMsAt(this.#system().getTime());
  }

  get isRight(): boolean {
    return Math.abs(this.skewMs) <= SKEW_MAX_MS;
  }

  readonly now = (): Date => {
    const now = this.#system();
    const skewMs = this.#skewMsAt(now.getTime());
    if (Math.abs(skewMs - this.#measured.skewMs) > SKEW_MAX_MS) this.#askAtOnce();
    return Math.abs(skewMs) <= SKEW_MAX_MS ? now : after(now, skewMs);
  };

  #skewMsAt(systemMs: number): number {
    const before = this.#measured;
    return (
      before.skewMs + (this.#monotonicMs() - before.monotonicMs) - (systemMs - before.systemMs)
    );
  }

  /** Measures now, because after a suspension of the machine, the monotonic clock is the wrong one. */
  #askAtOnce(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.measure()
      .catch(() => undefined) // The database is unavailable. The next reading retries.
      .finally(() => (this.#isAsking = false));
  }

  /** Changes the skew only as far as the answer requires, because a slow answer is imprecise. */
  async measure(): Promise<void> {
    const { least, most } = await clockSkewMs(this.#db.within(ANSWER_MS), this.#system);
    const skewMs = Math.min(Math.max(this.skewMs, least), most);
    this.#measured = { skewMs, ...this.#read() };
  }

  #read() {
    return { systemMs: this.#system().getTime(), monotonicMs: this.#monotonicMs() };
  }
}
