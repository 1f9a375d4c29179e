import type { Dependencies } from "../actions/dependencies.ts";
import { takeRedeliveryTurn } from "../actions/redelivery-turn.ts";
import { hasOpenJobs } from "../postgres/redelivery-jobs.ts";
import { repeat } from "./repeat.ts";

/** How often a process looks for work on a job, and how often it does so while there is none. */
const POLL_MS = 50;
const IDLE_MS = 500;
/** A slower turn is abandoned, and its writes are rolled back. */
const TURN_MS = 10_000;

/** Works on redeliveries, in turns with other processes. Returns how to stop. */
export function startRedelivering(
  deps: Dependencies,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let idleUntil = 0;
  let isStopping = false;
  const stop = repeat(POLL_MS, work, (error) => {
    idleUntil = performance.now() + IDLE_MS;
    onError(error);
  });
  return async () => {
    isStopping = true;
    await stop();
  };

  async function work(): Promise<void> {
    if (performance.now() < idleUntil) return;
    const inTime = { ...deps, db: deps.db.within(TURN_MS) };
    if (!(await hasOpenJobs(inTime.db))) {
      idleUntil = performance.now() + IDLE_MS;
      return;
    }
    while (!isStopping && (await takeRedeliveryTurn(inTime)));
  }
}
