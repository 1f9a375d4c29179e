import { after } from "../lib/clock.ts";
import { type DeliveryId, numberedId, type SubscriptionId } from "../lib/ids.ts";
import { repeat } from "../lib/parts.ts";
import type { Queryable } from "../postgres/database.ts";
import { countCancelled } from "../subjects/activity/counted.ts";
import { type CancelledCount, cancelForReason } from "../subjects/deliveries/cancellation-sql.ts";
import { listPassedWaiting, makeAllDue } from "../subjects/deliveries/waiting-sql.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import {
  batchOf,
  pauseMs,
  type RedeliverableState,
  statesOf,
} from "../subjects/redeliveries/rules.ts";
import {
  findNextSubscription,
  hasOpenJobs,
  insertRedeliveries,
  type Job,
  type JobPosition,
  listPassed,
  listRedelivered,
  lockFinished,
  lockNextJob,
  PASSED_MAX,
  type PassedDelivery,
  recordProgress,
  tryLockJobs,
} from "../subjects/redeliveries/sql.ts";
import { findSubscriptions } from "../subjects/subscriptions/sql.ts";

/** The most reads in one run. */
const STEPS_MAX = 20;

/** The consequences of a run. */
interface Written {
  /** The subscriptions that now have something due. */
  targets: Set<SubscriptionId>;
  cancelled: CancelledCount[];
}

/**
 * Writes the next deliveries of a job. They, the records of what was sent again and the job's position share one transaction, so
 * that a crash neither repeats nor loses any. One process at a time runs a job. Returns false if no job has anything to do now.
 */
export async function runRedelivery({
  db,
  clock,
  nudge,
  activity,
}: Pick<Dependencies, "db" | "clock" | "nudge" | "activity">): Promise<boolean> {
  const now = clock();
  const run = await db.begin(async (tx) => {
    if (!(await tryLockJobs(tx))) return null;
    const job = await lockNextJob(tx, now);
    if (job === null) return null;
    if (job.action !== "redeliver") return { job, ...(await continueWaiting(tx, job, now)) };
    return { job, targets: await continueJob(tx, job, now), cancelled: [] };
  });
  if (!run) return false;
  countCancelled(activity, run.cancelled);
  const { organizationId } = run.job;
  nudge([...run.targets].map((subscriptionId) => ({ subscriptionId, organizationId })));
  return true;
}

/** A part of the history: the deliveries of one subscription in one state. */
interface Part {
  subscriptionId: SubscriptionId;
  state: RedeliverableState;
}

/** Returns the subscriptions that now have something due. */
async function continueJob(tx: Queryable, job: Job, now: Date): Promise<Set<SubscriptionId>> {
  const targets = new Set<SubscriptionId>();
  const counts = { done: 0, skipped: 0, failed: 0 };
  let position: JobPosition = job;
  let part = partAt(job) ?? (await nextPart(tx, job, null));
  let room = batchOf(job.ratePerSecond);

  for (let step = 0; part !== null && room > 0 && step < STEPS_MAX; step++) {
    const passed = await listPassed(tx, job, { ...part, after: position.atDelivery });
    const { taken, last } = take(passed, room);
    const target = job.toSubscriptionId ?? part.subscriptionId;
    const made = await redeliverAll(tx, taken, { job, target, now });
    if (made.done > 0) targets.add(target);
    counts.done += made.done;
    counts.skipped += made.skipped;
    counts.failed += made.failed;
    room -= taken.length;

    const isThrough = passed.length < PASSED_MAX && last === passed.at(-1);
    if (isThrough) part = await nextPart(tx, job, part);
    position = {
      atSubscription: part?.subscriptionId ?? null,
      atState: part?.state ?? null,
      atDelivery: isThrough ? null : (last?.id ?? position.atDelivery),
    };
  }

  await record(tx, job, { position, counts, isThrough: part === null, now });
  return targets;
}

type Counts = Record<"done" | "skipped" | "failed", number>;

/** Records where a run has come to, and what it has done. */
async function record(
  tx: Queryable,
  job: Job,
  run: { position: JobPosition; counts: Counts; isThrough: boolean; now: Date },
): Promise<void> {
  const { position, counts, isThrough, now } = run;
  const writtenAt = counts.done > 0 ? now : job.writtenAt;
  await recordProgress(tx, job.id, {
    ...position,
    done: job.done + counts.done,
    skipped: job.skipped + counts.skipped,
    failed: job.failed + counts.failed,
    state: isThrough ? "finished" : "running",
    finishedAt: isThrough ? (writtenAt ?? now) : null,
    writtenAt,
    nextAt: after(now, pauseMs(counts.done, job.ratePerSecond)),
  });
}

/** Returns the first `room` deliveries that match, and the last one that was read. */
function take(
  passed: PassedDelivery[],
  room: number,
): { taken: PassedDelivery[]; last?: PassedDelivery } {
  const taken: PassedDelivery[] = [];
  let last: PassedDelivery | undefined;
  for (const row of passed) {
    if (taken.length === room) break;
    if (row.fits) taken.push(row);
    last = row;
  }
  return { taken, ...(last && { last }) };
}

/** Sends deliveries again. Skips those that were already sent again. Sends nothing to a subscription that is not active. */
async function redeliverAll(
  tx: Queryable,
  rows: PassedDelivery[],
  { job, target, now }: { job: Job; target: SubscriptionId; now: Date },
): Promise<Counts> {
  if (rows.length === 0) return { done: 0, skipped: 0, failed: 0 };
  await lockFinished(tx, rows);
  const redelivered = new Set(
    await listRedelivered(
      tx,
      rows.map(({ id }) => id),
    ),
  );
  const fresh = rows
    .filter(({ id }) => !redelivered.has(id))
    .map(({ id, eventId }) => ({ deliveryId: id, redeliveryId: numberedId(now), eventId }));
  const skipped = rows.length - fresh.length;

  const [subscription] = await findSubscriptions(tx, [target]);
  const isActive = subscription?.autoDisabledAt === null;
  const made = isActive
    ? await insertRedeliveries(tx, fresh, { to: target, job: job.id, now })
    : [];
  return { done: made.length, skipped, failed: fresh.length - made.length };
}

/** Returns null at the beginning. */
function partAt({ atSubscription: subscriptionId, atState: state }: JobPosition): Part | null {
  return subscriptionId !== null && state !== null ? { subscriptionId, state } : null;
}

/** Returns the next part. Null after the last. */
async function nextPart(tx: Queryable, job: Job, part: Part | null): Promise<Part | null> {
  const states = statesOf(job.deliveryState);
  const next = part && states[states.indexOf(part.state) + 1];
  if (part && next) return { ...part, state: next };

  const [state] = states;
  const subscriptionId = await nextSubscription(tx, job, part?.subscriptionId ?? null);
  return subscriptionId !== null && state !== undefined ? { subscriptionId, state } : null;
}

async function nextSubscription(
  tx: Queryable,
  { organizationId, subscriptionId }: Job,
  last: SubscriptionId | null,
): Promise<SubscriptionId | null> {
  if (subscriptionId !== null) return last === null ? subscriptionId : null;
  return findNextSubscription(tx, organizationId, last);
}

/**
 * Makes the next waiting deliveries of a job due, or cancels them. The job's position is the id of the last one that it passed, and
 * is written in the same transaction: none is passed twice.
 */
async function continueWaiting(tx: Queryable, job: Job, now: Date): Promise<Written> {
  const room = batchOf(job.ratePerSecond);
  const { ids, last, isThrough } = await takeNext(tx, job, room);
  const { counts, ...written } =
    job.action === "cancel" ? await cancel(tx, job, ids, now) : await attempt(tx, ids, now);
  const position = { atSubscription: null, atState: null, atDelivery: last };
  await record(tx, job, { position, counts, isThrough, now });
  return written;
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

type Counted = Written & { counts: Counts };

async function attempt(tx: Queryable, ids: DeliveryId[], now: Date): Promise<Counted> {
  const judged = ids.length === 0 ? [] : await makeAllDue(tx, ids, now);
  const made = judged.filter((one) => one.isServed && !one.isEarly);
  const failed = judged.filter((one) => !one.isServed).length;
  const targets = new Set(made.map(({ subscriptionId }) => subscriptionId));
  const skipped = ids.length - made.length - failed;
  return { targets, cancelled: [], counts: { done: made.length, skipped, failed } };
}

async function cancel(
  tx: Queryable,
  { cancelReason }: Job,
  ids: DeliveryId[],
  now: Date,
): Promise<Counted> {
  const reason = { reason: cancelReason ?? "", now };
  const cancelled = ids.length === 0 ? [] : await cancelForReason(tx, ids, reason);
  const done = cancelled.reduce((sum, one) => sum + one.cancelled, 0);
  return { targets: new Set(), cancelled, counts: { done, skipped: ids.length - done, failed: 0 } };
}

/** How often a process looks for work on a job, and how often it does so while there is none. */
const POLL_MS = 50;
const IDLE_MS = 500;
/** A slower run is abandoned, and its writes are rolled back. */
const RUN_MS = 10_000;

/** Works on redeliveries, one process at a time. Returns how to stop. */
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
    const inTime = { ...deps, db: deps.db.within(RUN_MS) };
    if (!(await hasOpenJobs(inTime.db))) {
      idleUntil = performance.now() + IDLE_MS;
      return;
    }
    while (!isStopping && (await runRedelivery(inTime)));
  }
}
