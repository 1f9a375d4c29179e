import { after, SKEW_MAX_MS } from "../domain/clock.ts";
import {
  auditOf,
  type CountedOutcome,
  type DeliveryState,
  type NextState,
  INTERNAL_FAULT_DELAY_MS,
} from "../domain/delivery.ts";
import { groupBy } from "../lib/group-by.ts";
import { type AttemptId, timeOrderedId } from "../domain/ids.ts";
import type { Notice } from "../domain/notices.ts";
import { applyOutcomes } from "../domain/subscription.ts";
import {
  type EndedAttempt,
  listDelivered,
  recordDelivered,
  recordLateAttempts,
  recordUndelivered,
} from "../postgres/attempts.ts";
import type { Queryable } from "../postgres/database.ts";
import { type HealthRow, lockHealth, updateHealth } from "../postgres/subscriptions.ts";
import { type CancelledRow, cancelWaiting } from "../postgres/cancellation.ts";
import { lockHeld, releaseLeases } from "../postgres/leases.ts";
import type { Claim } from "./claim.ts";
import type { Foundations } from "./dependencies.ts";
import { publishNotices, type Told } from "./notices.ts";

/** An attempt with its outcome. */
export interface Ended {
  claim: Claim;
  outcome: CountedOutcome;
  startedAt: Date;
  endedAt: Date;
}

/** The consequences of recorded attempts. */
export interface Recorded {
  /** The ids of subscriptions. */
  disabled: string[];
  deadLettered: EndedAttempt[];
  /** The notices about that. */
  told: Told[];
  /** The attempts that are in the audit now. */
  settled: Settled[];
  cancelled: CancelledRow[];
}

/** A recorded attempt, and the new state of its delivery. */
export interface Settled {
  ended: Ended;
  /** Null if the attempt changed nothing, because its delivery was cancelled before. */
  state: DeliveryState | null;
}

type Recording = Pick<
  Foundations,
  "db" | "clock" | "rules" | "cancelling" | "platformOrganization"
>;

/**
 * Records attempts, in the order in which they ended. Moves each delivery on, writes each attempt to the audit, and keeps each
 * subscription's counter exact. The failure that disables a subscription also cancels its queue. An attempt whose lease was
 * lost changes nothing.
 */
export async function recordEnded(recording: Recording, ended: Ended[]): Promise<Recorded> {
  const failed = ended.filter((e) => e.outcome.kind !== "acknowledged");
  const troubled = new Set(failed.map((e) => e.claim.subscription_id));
  const smooth = ended.filter((e) => !troubled.has(e.claim.subscription_id));
  const rough = ended.filter((e) => troubled.has(e.claim.subscription_id));

  const delivered = await recordSmooth(recording, smooth);
  if (rough.length === 0) {
    return { disabled: [], deadLettered: [], told: [], cancelled: [], settled: delivered };
  }
  const recorded = await recordRough(recording, rough);
  return { ...recorded, settled: [...delivered, ...recorded.settled] };
}

/** Records the successes of subscriptions without a failure in this batch, in one statement. */
async function recordSmooth(
  { db, rules }: Pick<Foundations, "db" | "rules">,
  ended: Ended[],
): Promise<Settled[]> {
  if (ended.length === 0) return [];
  const rows = ended.map((e) => toRow(e, { state: "delivered", dueAt: null }));
  const recorded = await recordDelivered(db, rows);
  const settled: Settled[] = ended.map((one) => ({ ended: one, state: "delivered" }));
  if (recorded === rows.length) return settled;

  const late = new Set(await recordLate(db, rules, rows));
  const delivered = new Set(await listDelivered(db, rows));
  return settled.flatMap(({ ended, state }, i) => {
    const id = rows[i]?.id ?? "";
    if (delivered.has(id)) return [{ ended, state }];
    return late.has(id) ? [{ ended, state: null }] : [];
  });
}

async function recordRough(recording: Recording, ended: Ended[]): Promise<Recorded> {
  const { db, clock, rules, cancelling } = recording;
  const { isSomeLeft, ...recorded } = await db.begin(async (tx) => {
    const bySubscription = groupBy(ended, (e) => e.claim.subscription_id);
    const health = await lockHealth(tx, [...bySubscription.keys()]);
    const leases = await lockHeld(
      tx,
      ended.map((e) => e.claim),
    );
    const isHeld = ({ claim }: Ended) => leases.get(claim.id) === claim.lease_id;

    const settled = health.map((row) =>
      settle(row, (bySubscription.get(row.id) ?? []).filter(isHeld)),
    );
    const rows = settled.flatMap((s) => s.rows);
    const delivered = rows.filter((row) => row.state === "delivered");
    await recordDelivered(tx, delivered);
    const undelivered = rows.filter((row) => row.state !== "delivered");
    await recordUndelivered(tx, undelivered);
    const changes = settled.flatMap((s) => s.change);
    await updateHealth(tx, changes);

    const disabled = changes.filter((c) => c.auto_disabled_at !== null).map((c) => c.id);
    const { rows: cancelled, isSomeLeft } =
      disabled.length > 0 ? await cancelWaiting(tx, disabled, clock()) : NOTHING_CANCELLED;

    const late = ended.filter((e) => !isHeld(e));
    const lateRows = late.map((e) => toRow(e, { state: "cancelled", dueAt: null }));
    const lateIds = new Set(await recordLate(tx, rules, lateRows));
    const deadLettered = undelivered.filter((row) => row.state === "dead_lettered");
    const settledLate = late
      .filter((_, i) => lateIds.has(lateRows[i]?.id ?? ""))
      .map((one) => ({ ended: one, state: null }));
    const settledHeld = settled.flatMap((s) => s.settled);
    const causes = settled.flatMap((s) => s.causes);
    const told = await publishNotices(recording, tx, noticesOf(causes, deadLettered, ended));
    return {
      disabled,
      told,
      deadLettered,
      cancelled,
      isSomeLeft,
      settled: [...settledHeld, ...settledLate],
    };
  });
  if (isSomeLeft) recorded.disabled.forEach(cancelling.cancelRest);
  return recorded;

  function settle({ id, consecutive_failures, active }: HealthRow, held: Ended[]) {
    const { health, disabledAt, moves } = applyOutcomes(
      rules,
      { consecutiveFailures: consecutive_failures, active },
      held.map((e) => ({ ...e, attempts: e.claim.attempts + 1 })),
    );
    const change = {
      id,
      consecutive_failures: health.consecutiveFailures,
      auto_disabled_at: disabledAt,
    };
    return {
      rows: moves.map(({ attempt, next }) => toRow(attempt, next)),
      settled: moves.map(({ attempt: ended, next }) => ({ ended, state: next.state })),
      change: active ? [change] : [],
      causes: moves.flatMap(({ attempt }) => (attempt.endedAt === disabledAt ? [attempt] : [])),
    };
  }
}

const NOTHING_CANCELLED = { rows: [], isSomeLeft: false };

/** Returns the notices to the platform: first of disabled subscriptions, then of dead letters. */
function noticesOf(causes: Ended[], deadLettered: EndedAttempt[], ended: Ended[]): Notice[] {
  const dead = new Set(deadLettered.map((row) => row.delivery_id));
  return [
    ...causes.map((cause) => toNotice("vc.subscription.disabled", cause)),
    ...ended
      .filter(({ claim }) => dead.has(claim.id))
      .map((one) => toNotice("vc.delivery.dead_lettered", one)),
  ];
}

function toNotice(type: Notice["type"], { claim, outcome, endedAt }: Ended): Notice {
  return {
    type,
    organizationId: claim.organization_id,
    subscriptionId: claim.subscription_id,
    deliveryId: claim.id,
    reason: auditOf(outcome).reason ?? "",
    at: endedAt,
  };
}

/** Records attempts whose deliveries were cancelled during the attempt, and no others. Returns the ids of those recorded. */
async function recordLate(
  db: Queryable,
  { leaseMs }: Pick<Foundations["rules"], "leaseMs">,
  rows: EndedAttempt[],
): Promise<AttemptId[]> {
  if (rows.length === 0) return [];
  const earliest = Math.min(...rows.map((row) => row.attempted_at.getTime()));
  // An attempt can begin until its lease ends, and its delivery can be cancelled before that.
  return recordLateAttempts(db, rows, new Date(earliest - leaseMs - CLOCK_TOLERANCE_MS));
}

/** The largest difference between the clocks of two processes. */
const CLOCK_TOLERANCE_MS = 2 * SKEW_MAX_MS;

function toRow({ claim, outcome, startedAt, endedAt }: Ended, next: NextState): EndedAttempt {
  const { httpStatus, reason } = auditOf(outcome);
  return {
    id: timeOrderedId(startedAt),
    delivery_id: claim.id,
    lease_id: claim.lease_id,
    subscription_id: claim.subscription_id,
    event_type: claim.type,
    http_status: httpStatus,
    reason,
    duration_ms: durationMs(startedAt, endedAt),
    attempted_at: startedAt,
    state: next.state,
    due_at: next.dueAt,
  };
}

/** Clocks step. The result always fits the column. */
function durationMs(from: Date, to: Date): number {
  return Math.min(Math.max(0, to.getTime() - from.getTime()), 2 ** 31 - 1);
}

/** Postpones deliveries that could not be attempted: after an internal fault, by a minute. Counts no attempt. */
export async function postpone(
  { db, clock }: Pick<Foundations, "db" | "clock">,
  claims: Claim[],
  delayMs = INTERNAL_FAULT_DELAY_MS,
): Promise<void> {
  await releaseLeases(db, claims, after(clock(), delayMs));
}
