import { MINUTE_MS, MINUTES_KEPT_MS, periodAt, SERVICE_SCOPE } from "../domain/activity.ts";
import { after } from "../domain/clock.ts";
import { randomId } from "../domain/ids.ts";
import { hasMinutesBefore, rollUpMinutes } from "../postgres/activity-rollup.ts";
import type { Dependencies } from "./dependencies.ts";

/** Sums old minutes up into hours, in short statements, until all are done or `signal` aborts. */
export async function rollUpActivity(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  signal?: AbortSignal,
): Promise<void> {
  const horizon = periodAt(after(clock(), -MINUTES_KEPT_MS), 60 * MINUTE_MS);
  if (!(await hasMinutesBefore(db, horizon))) return;
  for (let from: string | null = SERVICE_SCOPE; from !== null && !signal?.aborted;) {
    from = await rollUpMinutes(db, { horizon, from, partId: randomId() });
  }
}
