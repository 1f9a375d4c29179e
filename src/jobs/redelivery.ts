import { after } from "../lib/clock.ts";
import { numberedId, type SubscriptionId } from "../lib/ids.ts";
import { repeat } from "../lib/parts.ts";
import type { Queryable } from "../postgres/database.ts";
import { countCancelled } from "../subjects/activity/counted.ts";
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
  type JobPlace,
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
import { continueWaiting, STEPS_MAX } from "./waiting-turn.ts";

/**
 * Writes the next deliveries of a job. They, their marks and the job's place share one transaction, so that a crash neither
 * repeats nor loses any. One process at a time has a turn. Returns false if no job has anything to do now.
 */
export async function takeRedeliveryTurn({
  db,
  clock,
  nudge,
  activity,
}: Pick<Dependencies, "db" | "clock" | "nudge" | "activity">): Promise<boolean> {
  const now = clock();
  const turn = await db.begin(async (tx) => {
    if (!(await tryLockJobs(tx))) return null;
    const job = await lockNextJob(tx, now);
    if (job === null) return null;
    if (job.action !== "redeliver") return { job, ...(await continueWaiting(tx, job, now)) };
    return { job, targets: await continueJob(tx, job, now), cancelled: [] };
  });
  if (!turn) return false;
  countCancelled(activity, turn.cancelled);
  const { organizationId } = turn.job;
  nudge([...turn.targets].map((subscriptionId) => ({ subscriptionId, organizationId })));
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
  const { done, skipped, failed } = job;
  const counts = { done, skipped, failed };
  let place: JobPlace = job;
  let part = partAt(job) ?? (await nextPart(tx, job, null));
  let room = batchOf(job.ratePerSecond);

  for (let step = 0; part !== null && room > 0 && step < STEPS_MAX; step++) {
    const passed = await listPassed(tx, job, { ...part, after: place.atDelivery });
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
    place = {
      atSubscription: part?.subscriptionId ?? null,
      atState: part?.state ?? null,
      atDelivery: isThrough ? null : (last?.id ?? place.atDelivery),
    };
  }

  const written = counts.done - job.done;
  const writtenAt = written > 0 ? now : job.writtenAt;
  await recordProgress(tx, job.id, {
    ...place,
    ...counts,
    state: part === null ? "finished" : "running",
    finishedAt: part === null ? (writtenAt ?? now) : null,
    writtenAt,
    nextAt: after(now, pauseMs(written, job.ratePerSecond)),
  });
  return targets;
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
): Promise<{ done: number; skipped: number; failed: number }> {
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
function partAt({ atSubscription: subscriptionId, atState: state }: JobPlace): Part | null {
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
