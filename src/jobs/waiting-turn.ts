import { after } from "../lib/clock.ts";
import type { DeliveryId, SubscriptionId } from "../lib/ids.ts";
import type { Queryable } from "../postgres/database.ts";
import { type CancelledCount, cancelForReason } from "../subjects/deliveries/cancellation-sql.ts";
import { listPassedWaiting, makeAllDue } from "../subjects/deliveries/waiting-sql.ts";
import { batchOf, pauseMs } from "../subjects/redeliveries/rules.ts";
import { type Job, PASSED_MAX, recordProgress } from "../subjects/redeliveries/sql.ts";

/** The most reads in one turn. */
export const STEPS_MAX = 20;

/** The consequences of a turn. */
interface Turn {
  /** The subscriptions that now have something due. */
  targets: Set<SubscriptionId>;
  cancelled: CancelledCount[];
}

/**
 * Makes the next waiting deliveries of a job due, or cancels them. The job's place is the id of the last one that it passed, and is
 * written in the same transaction: none is passed twice.
 */
export async function continueWaiting(tx: Queryable, job: Job, now: Date): Promise<Turn> {
  const room = batchOf(job.ratePerSecond);
  const { ids, last, isThrough } = await takeNext(tx, job, room);
  const { done, skipped, failed, ...turn } =
    job.action === "cancel" ? await cancel(tx, job, ids, now) : await attempt(tx, ids, now);
  const writtenAt = done > 0 ? now : job.writtenAt;
  await recordProgress(tx, job.id, {
    ...{ atSubscription: null, atState: null, atDelivery: last },
    ...{ done: job.done + done, skipped: job.skipped + skipped, failed: job.failed + failed },
    state: isThrough ? "finished" : "running",
    finishedAt: isThrough ? (writtenAt ?? now) : null,
    writtenAt,
    nextAt: after(now, pauseMs(done, job.ratePerSecond)),
  });
  return turn;
}

/** Returns the next deliveries that match, at most `room`, and the last one that was read. */
async function takeNext(
  tx: Queryable,
  job: Job,
  room: number,
): Promise<{ ids: DeliveryId[]; last: DeliveryId | null; isThrough: boolean }> {
  const ids: DeliveryId[] = [];
  let last = job.atDelivery;
  for (let step = 0; step < STEPS_MAX; step++) {
    const passed = await listPassedWaiting(tx, job, { after: last, limit: PASSED_MAX });
    for (const { id, fits } of passed) {
      if (ids.length === room) return { ids, last, isThrough: false };
      if (fits) ids.push(id);
      last = id;
    }
    if (passed.length < PASSED_MAX) return { ids, last, isThrough: true };
  }
  return { ids, last, isThrough: false };
}

type Counts = Record<"done" | "skipped" | "failed", number>;

async function attempt(tx: Queryable, ids: DeliveryId[], now: Date): Promise<Turn & Counts> {
  const judged = ids.length === 0 ? [] : await makeAllDue(tx, ids, now);
  const made = judged.filter((one) => one.isServed && !one.isEarly);
  const failed = judged.filter((one) => !one.isServed).length;
  const targets = new Set(made.map(({ subscriptionId }) => subscriptionId));
  const skipped = ids.length - made.length - failed;
  return { targets, cancelled: [], done: made.length, skipped, failed };
}

async function cancel(
  tx: Queryable,
  { cancelReason }: Job,
  ids: DeliveryId[],
  now: Date,
): Promise<Turn & Counts> {
  const reason = { reason: cancelReason ?? "", now };
  const cancelled = ids.length === 0 ? [] : await cancelForReason(tx, ids, reason);
  const done = cancelled.reduce((sum, one) => sum + one.cancelled, 0);
  return { targets: new Set(), cancelled, done, skipped: ids.length - done, failed: 0 };
}
