import { after, SKEW_MAX_MS } from "../../lib/clock.ts";
import type { SubscriptionId } from "../../lib/ids.ts";
import { groupBy } from "../../lib/objects.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Foundations } from "../dependencies.ts";
import type { Notice } from "../event-types/rules.ts";
import { type PublishedNotice, publishNotices } from "../events/notices.ts";
import { applyOutcomes } from "../subscriptions/rules.ts";
import { deleteHolds, lockHealth, updateHealth } from "../subscriptions/sql.ts";
import {
  listDelivered,
  recordDelivered,
  recordLateFailures,
  recordLateSuccesses,
  recordUndelivered,
} from "./attempts-sql.ts";
import { type CancelledCount, cancelWaiting } from "./cancellation-sql.ts";
import { lockHeld, releaseLeases } from "./claims-sql.ts";
import {
  type Attempt,
  auditOf,
  type Claim,
  type DeliveryState,
  INTERNAL_FAULT_DELAY_MS,
} from "./rules.ts";

/** The consequences of recorded attempts. */
export interface Consequences {
  disabled: SubscriptionId[];
  deadLettered: Attempt[];
  /** The notices about that. */
  notices: PublishedNotice[];
  /** The attempts that are in the audit now, each with the new state of its delivery. */
  recorded: {
    attempt: Attempt;
    /** Null if the attempt changed nothing, because its delivery was cancelled before. */
    state: DeliveryState | null;
  }[];
  /** Below 0 for what counted as cancelled and was delivered. */
  cancelled: CancelledCount[];
}

type Recorded = Pick<Consequences, "recorded" | "cancelled">;
const NOTHING_RECORDED: Recorded = { recorded: [], cancelled: [] };

type Recording = Pick<
  Foundations,
  "db" | "clock" | "rules" | "cancelling" | "platformOrganization"
>;

/**
 * Records attempts, in the order in which they ended. Moves each delivery on, writes each attempt to the audit, and keeps each
 * subscription's counter exact. The failure that disables a subscription also cancels its queue. What a receiver has
 * acknowledged is delivered, even if it was cancelled during the attempt. An attempt whose lease was lost changes nothing.
 */
export async function recordAttempts(
  recording: Recording,
  attempts: Attempt[],
): Promise<Consequences> {
  const failed = attempts.filter((one) => !isSuccess(one));
  const troubled = new Set(failed.map((one) => one.claim.subscriptionId));
  const smooth = attempts.filter((one) => !troubled.has(one.claim.subscriptionId));
  const rough = attempts.filter((one) => troubled.has(one.claim.subscriptionId));

  const delivered = await recordSmooth(recording, smooth);
  if (rough.length === 0) return { disabled: [], deadLettered: [], notices: [], ...delivered };
  const consequences = await recordRough(recording, rough);
  return {
    ...consequences,
    recorded: [...delivered.recorded, ...consequences.recorded],
    cancelled: [...delivered.cancelled, ...consequences.cancelled],
  };
}

/** Records the successes of subscriptions without a failure in this batch, in one statement. */
async function recordSmooth(
  { db, rules }: Pick<Foundations, "db" | "rules">,
  attempts: Attempt[],
): Promise<Recorded> {
  if (attempts.length === 0) return NOTHING_RECORDED;
  const count = await recordDelivered(db, attempts);
  if (count === attempts.length) return { recorded: attempts.map(toDelivered), cancelled: [] };

  const { cancelled } = await recordLate(db, rules, attempts);
  const delivered = new Set(await listDelivered(db, attempts));
  const recorded = attempts.filter(({ id }) => delivered.has(id)).map(toDelivered);
  return { recorded, cancelled };
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

    const decided = health.map(({ id, ...before }) => {
      const held = (bySubscription.get(id) ?? []).filter(isHeld);
      return { id, before, ...applyOutcomes(rules, before, held) };
    });
    const moves = decided.flatMap((one) => one.moves);
    const attemptsTo = (state: DeliveryState) =>
      moves.flatMap(({ attempt, next }) => (next.state === state ? [attempt] : []));
    await recordDelivered(tx, attemptsTo("delivered"));
    await recordUndelivered(
      tx,
      moves.filter(({ next }) => next.state !== "delivered"),
    );
    const changes = decided.filter(({ before }) => before.active);
    await updateHealth(tx, changes);

    const disabled = changes.filter(({ disabledAt }) => disabledAt !== null).map(({ id }) => id);
    if (disabled.length > 0) await deleteHolds(tx, disabled);
    const { counts: cancelled, isSomeLeft } =
      disabled.length > 0 ? await cancelWaiting(tx, disabled, clock()) : NOTHING_CANCELLED;

    const late = await recordLate(
      tx,
      rules,
      attempts.filter((one) => !isHeld(one)),
    );
    const deadLettered = attemptsTo("dead_lettered");
    const causes = changes.flatMap(({ moves, disabledAt }) =>
      moves.flatMap(({ attempt }) => (attempt.endedAt === disabledAt ? [attempt] : [])),
    );
    const published = await publishNotices(recording, tx, noticesOf(causes, deadLettered));
    return {
      disabled,
      notices: published,
      deadLettered,
      cancelled: [...cancelled, ...late.cancelled],
      isSomeLeft,
      recorded: [
        ...moves.map(({ attempt, next }) => ({ attempt, state: next.state })),
        ...late.recorded,
      ],
    };
  });
  if (isSomeLeft) consequences.disabled.forEach(cancelling.cancelRest);
  return consequences;
}

const NOTHING_CANCELLED = { counts: [], isSomeLeft: false };

/** Returns the notices to the platform: first of disabled subscriptions, then of dead letters. */
function noticesOf(causes: Attempt[], deadLettered: Attempt[]): Notice[] {
  return [
    ...causes.map((cause) => toNotice("vc.subscription.disabled", cause)),
    ...deadLettered.map((one) => toNotice("vc.delivery.dead_lettered", one)),
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

/**
 * Records attempts whose deliveries were cancelled during the attempt, and no others. A success takes its delivery back from the
 * cancelled ones.
 */
async function recordLate(
  db: Queryable,
  { leaseMs }: Pick<Foundations["rules"], "leaseMs">,
  attempts: Attempt[],
): Promise<Recorded> {
  if (attempts.length === 0) return NOTHING_RECORDED;
  const earliest = Math.min(...attempts.map(({ startedAt }) => startedAt.getTime()));
  // An attempt can begin until its lease ends, and its delivery can be cancelled before that.
  const since = new Date(earliest - leaseMs - CLOCK_TOLERANCE_MS);
  const successes = attempts.filter(isSuccess);
  const failures = attempts.filter((one) => !isSuccess(one));
  const delivered = new Set(await recordLateSuccesses(db, successes, since));
  const failed = new Set(await recordLateFailures(db, failures, since));
  const isDelivered = ({ id }: Attempt) => delivered.has(id);
  return {
    recorded: attempts.flatMap((attempt): Consequences["recorded"] => {
      if (isDelivered(attempt)) return [toDelivered(attempt)];
      return failed.has(attempt.id) ? [{ attempt, state: null }] : [];
    }),
    cancelled: attempts.filter(isDelivered).map(({ claim }) => ({ ...claim, cancelled: -1 })),
  };
}

function toDelivered(attempt: Attempt) {
  return { attempt, state: "delivered" } as const;
}

function isSuccess({ outcome }: Attempt): boolean {
  return outcome.kind === "acknowledged";
}

/** The largest difference between the clocks of two processes. */
const CLOCK_TOLERANCE_MS = 2 * SKEW_MAX_MS;

/** Postpones deliveries that could not be attempted: after an internal fault, by a minute. Counts no attempt. */
export async function postpone(
  { db, clock }: Pick<Foundations, "db" | "clock">,
  claims: Claim[],
  delayMs = INTERNAL_FAULT_DELAY_MS,
): Promise<void> {
  await releaseLeases(db, claims, after(clock(), delayMs));
}
