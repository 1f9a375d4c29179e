import type { Clock } from "../domain/clock.ts";
import { after } from "../domain/clock.ts";
import type { ProcessId } from "../domain/ids.ts";
import { processStateAt, REPORT_MS, SILENT_MS } from "../domain/process.ts";
import type { Queryable } from "../postgres/database.ts";
import { listProcesses } from "../postgres/processes.ts";

/**
 * Chooses a dispatcher for each notice, in turn. If every dispatcher heard every notice, all of them would claim the same
 * deliveries, and only one would get each.
 */
export class Addressees {
  readonly #list: () => Promise<ProcessId[]>;
  #ids: ProcessId[] = [];
  #turn = 0;
  #oldAtMs = -Infinity;

  constructor(list: () => Promise<ProcessId[]>) {
    this.#list = list;
  }

  /** Returns null for all dispatchers. That is the answer while it reads which ones run. */
  next(): ProcessId | null {
    if (performance.now() >= this.#oldAtMs) this.#renew();
    return this.#ids[this.#turn++ % this.#ids.length] ?? null;
  }

  #renew(): void {
    this.#oldAtMs = performance.now() + REPORT_MS;
    this.#ids = [];
    void this.#list().then(
      (ids) => (this.#ids = ids),
      () => undefined, // All dispatchers hear the notices until the next time.
    );
  }
}

/** Returns the running processes that deliver. */
export async function listDispatchers(db: Queryable, clock: Clock): Promise<ProcessId[]> {
  const now = clock();
  const seen = await listProcesses(db, after(now, -SILENT_MS));
  return seen
    .filter((one) => one.role !== "api" && processStateAt(now, one) === "running")
    .map(({ id }) => id);
}
