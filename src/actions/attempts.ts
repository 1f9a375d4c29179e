import type { Attempt, Claim } from "../domain/attempt.ts";
import { after, SKEW_MAX_MS } from "../domain/clock.ts";
import {
  auditOf,
  type DeliveryState,
  type NextState,
  INTERNAL_FAULT_DELAY_MS,
} from "../domain/delivery.ts";
import { groupBy } from "../lib/group-by.ts";
import { type AttemptId, timeOrderedId } from "../domain/ids.ts";
import type { Notice } from "../domain/notices.ts";
import { applyOutcomes } from "../domain/subscription.ts";
import {
  type NewAttemptRow,
  listDelivered,
  recordDelivered,
  recordLateAttempts,
  recordUndelivered,
} from "../postgres/attempts.ts";
import type { Queryable } from "../postgres/database.ts";
import { type HealthRow, lockHealth, updateHealth } from "../postgres/subscriptions.ts";
import { type CancelledRow, cancelWaiting } from "../postgres/cancellation.ts";
import { lockHeld, releaseLeases } from "../postgres/leases.ts";
import type { Foundations } from "./dependencies.ts";
import { publishNotices, type PublishedNotice } from "./notices.ts";

/** The consequences of recorded attempts. */
export interface Consequences {
  /** The ids of subscriptions. */
  disabled: string[];
  deadLettered: NewAttemptRow[];
  /** The notices about that. */
  notices: PublishedNotice[];
  /** The attempts that are in the audit now, each with the new state of its delivery. */
  recorded: {
    attempt: Attempt;
    /** Null if the attempt changed nothing, because its delivery was cancelled before. */
    state: DeliveryState | null;
  }[];
  cancelled: CancelledRow[];
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
export async function recordAttempts(
  recording: Recording,
  attempts: Attempt[],
): Promise<Consequences> {
  const failed = attempts.filter((one) => one.outcome.kind !== "acknowledged");
  const troubled = new Set(failed.map((one) => one.claim.subscriptionId));
  const smooth = attempts.filter((one) => !troubled.has(one.claim.subscriptionId));
  const rough = attempts.filter((one) => troubled.has(one.claim.subscriptionId));

  const delivered = await recordSmooth(recording, smooth);
  if (rough.length === 0) {
    return { disabled: [], deadLettered: [], notices: [], cancelled: [], recorded: delivered };
  }
  const consequences = await recordRough(recording, rough);
  return { ...consequences, recorded: [...delivered, ...consequences.recorded] };
}

/** Records the successes of subscriptions without a failure in this batch, in one statement. */
async function recordSmooth(
  { db, rules }: Pick<Foundations, "db" | "rules">,
  attempts: Attempt[],
): Promise<Consequences["recorded"]> {
  if (attempts.length === 0) return [];
  const rows = attempts.map((one) => toRow(one, { state: "delivered", dueAt: null }));
  const count = await recordDelivered(db, rows);
  if (count === rows.length) return attempts.map((attempt) => ({ attempt, state: "delivered" }));

  const late = new Set(await recordLate(db, rules, rows));
  const delivered = new Set(await listDelivered(db, rows));
  return attempts.flatMap((attempt, i): Consequences["recorded"] => {
    const id = rows[i]?.id ?? "";
    if (delivered.has(id)) return [{ attempt, state: "delivered" }];
    return late.has(id) ? [{ attempt, state: null }] : [];
  });
}

async function recordRough(recording: Recording, attempts: Attempt[]): Promise<Consequences> {
  const { db, clock, rules, cancelling } = recording;
  const { isSomeLeft, ...consequences } = await db.begin(async (tx) => {
    const bySubscription = groupBy(attempts, (one) => one.claim.subscriptionId);
    const health = await lockHealth(tx, [...bySubscription.keys()]);
    const leases = await lockHeld(
      tx,
      attempts.map((one) => one.claim),
    );
    const isHeld = ({ claim }: Attempt) => leases.get(claim.id) === claim.leaseId;

    const decided = health.map((row) =>
      decide(rules, row, (bySubscription.get(row.id) ?? []).filter(isHeld)),
    );
    const rows = decided.flatMap((one) => one.rows);
    const delivered = rows.filter((row) => row.state === "delivered");
    await recordDelivered(tx, delivered);
    const undelivered = rows.filter((row) => row.state !== "delivered");
    await recordUndelivered(tx, undelivered);
    const changes = decided.flatMap((one) => one.change);
    await updateHealth(tx, changes);

    const disabled = changes.filter((c) => c.auto_disabled_at !== null).map((c) => c.id);
    const { rows: cancelled, isSomeLeft } =
      disabled.length > 0 ? await cancelWaiting(tx, disabled, clock()) : NOTHING_CANCELLED;

    const late = attempts.filter((one) => !isHeld(one));
    const lateRows = late.map((one) => toRow(one, { state: "cancelled", dueAt: null }));
    const lateIds = new Set(await recordLate(tx, rules, lateRows));
    const deadLettered = undelivered.filter((row) => row.state === "dead_lettered");
    const recordedLate = late
      .filter((_, i) => lateIds.has(lateRows[i]?.id ?? ""))
      .map((attempt) => ({ attempt, state: null }));
    const recordedHeld = decided.flatMap((one) => one.recorded);
    const causes = decided.flatMap((one) => one.causes);
    const published = await publishNotices(
      recording,
      tx,
      noticesOf(causes, deadLettered, attempts),
    );
    return {
      disabled,
      notices: published,
      deadLettered,
      cancelled,
      isSomeLeft,
      recorded: [...recordedHeld, ...recordedLate],
    };
  });
  if (isSomeLeft) consequences.disabled.forEach(cancelling.cancelRest);
  return consequences;
}

/** Decides what the attempts of one subscription change. Their leases still hold. */
function decide(
  rules: Recording["rules"],
  { id, consecutive_failures, active }: HealthRow,
  attempts: Attempt[],
) {
  const before = { consecutiveFailures: consecutive_failures, active };
  const { health, disabledAt, moves } = applyOutcomes(rules, before, attempts);
  const change = {
    id,
    consecutive_failures: health.consecutiveFailures,
    auto_disabled_at: disabledAt,
  };
  return {
    rows: moves.map(({ attempt, next }) => toRow(attempt, next)),
    recorded: moves.map(({ attempt, next }) => ({ attempt, state: next.state })),
    change: active ? [change] : [],
    causes: attempts.filter((attempt) => attempt.endedAt === disabledAt),
  };
}

const NOTHING_CANCELLED = { rows: [], isSomeLeft: false };

/** Returns the notices to the platform: first of disabled subscriptions, then of dead letters. */
function noticesOf(
  causes: Attempt[],
  deadLettered: NewAttemptRow[],
  attempts: Attempt[],
): Notice[] {
  const dead = new Set(deadLettered.map((row) => row.delivery_id));
  return [
    ...causes.map((cause) => toNotice("vc.subscription.disabled", cause)),
    ...attempts
      .filter(({ claim }) => dead.has(claim.id))
      .map((one) => toNotice("vc.delivery.dead_lettered", one)),
  ];
}

function toNotice(type: Notice["type"], { claim, outcome, endedAt }: Attempt): Notice {
  return {
    type,
    organizationId: claim.organizationId,
    subscriptionId: claim.subscriptionId,
    deliveryId: claim.id,
    reason: auditOf(outcome).reason ?? "",
    at: endedAt,
  };
}

/** Records attempts whose deliveries were cancelled during the attempt, and no others. Returns the ids of those recorded. */
async function recordLate(
  db: Queryable,
  { leaseMs }: Pick<Foundations["rules"], "leaseMs">,
  rows: NewAttemptRow[],
): Promise<AttemptId[]> {
  if (rows.length === 0) return [];
  const earliest = Math.min(...rows.map((row) => row.attempted_at.getTime()));
  // An attempt can begin until its lease ends, and its delivery can be cancelled before that.
  return recordLateAttempts(db, rows, new Date(earliest - leaseMs - CLOCK_TOLERANCE_MS));
}

/** The largest difference between the clocks of two processes. */
const CLOCK_TOLERANCE_MS = 2 * SKEW_MAX_MS;

function toRow({ claim, outcome, startedAt, endedAt }: Attempt, next: NextState): NewAttemptRow {
  const { httpStatus, reason } = auditOf(outcome);
  return {
    id: timeOrderedId(startedAt),
    delivery_id: claim.id,
    lease_id: claim.leaseId,
    subscription_id: claim.subscriptionId,
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
