import type { Clock } from "../domain/clock.ts";
import { after } from "../domain/clock.ts";
import type { ProcessId } from "../domain/ids.ts";
import { processStateAt, REPORT_MS, SILENT_MS } from "../domain/process.ts";
import type { Queryable } from "../postgres/database.ts";
import { listProcesses } from "../postgres/processes.ts";

/** A process sends at most 50 notices a second. */
export const PACE_MS = 20;
/** Fewer than four `api` processes send more: at most 200 notices a second together. */
const SHARED_PACE_MS = 5;

/** The processes that the notices of `api` processes come from and go to. */
export interface Fleet {
  dispatchers: ProcessId[];
  /** The number of `api` processes. */
  senders: number;
}

/**
 * Chooses a dispatcher for each notice, in turn. If every dispatcher heard every notice, all of them would claim the same
 * deliveries, and only one would get each.
 */
export class Addressees {
  readonly #read: () => Promise<Fleet>;
  #ids: ProcessId[] = [];
  #paceMs = PACE_MS;
  #turn = 0;
  #oldAtMs = -Infinity;

  constructor(read: () => Promise<Fleet>) {
    this.#read = read;
  }

  /** The time between two notices of this process. */
  get paceMs(): number {
    return this.#paceMs;
  }

  /** Returns null for all dispatchers. That is the answer while it reads which ones run. */
  next(): ProcessId | null {
    if (performance.now() >= this.#oldAtMs) this.#renew();
    return this.#ids[this.#turn++ % this.#ids.length] ?? null;
  }

  #renew(): void {
    this.#oldAtMs = performance.now() + REPORT_MS;
    this.#ids = [];
    void this.#read().then(
      ({ dispatchers, senders }) => {
        this.#ids = dispatchers;
        this.#paceMs = Math.min(PACE_MS, SHARED_PACE_MS * Math.max(1, senders));
      },
      () => undefined, // All dispatchers hear the notices until the next time.
    );
  }
}

/** Returns the processes that run now. */
export async function readFleet(db: Queryable, clock: Clock): Promise<Fleet> {
  const now = clock();
  const seen = await listProcesses(db, after(now, -SILENT_MS));
  const running = seen.filter((one) => processStateAt(now, one) === "running");
  const dispatchers = running.filter(({ role }) => role !== "api").map(({ id }) => id);
  return { dispatchers, senders: running.length - dispatchers.length };
}
