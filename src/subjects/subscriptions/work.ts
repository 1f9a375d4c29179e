import { timingSafeEqual } from "node:crypto";
import { hostOf, type Refusal } from "../../egress/index.ts";
import {
  invalidRequest,
  noSuch,
  PartnerError,
  requireNoFaults,
  unauthenticated,
} from "../../lib/errors.ts";
import { type OrganizationId, publicId, randomId, type SubscriptionId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import { mintSigningSecret } from "../../webhook/sign.ts";
import { countCancelled } from "../activity/counted.ts";
import { cancelWaiting } from "../deliveries/cancellation-sql.ts";
import type { Dependencies } from "../dependencies.ts";
import { lockOrganization } from "../organizations/sql.ts";
import { seal, whySealed } from "../secrets/rules.ts";
import { openOnce } from "../secrets/work.ts";
import {
  burstOf,
  changeFaults,
  EVENTS_LENGTH_MAX,
  type Keeping,
  releaseBy,
  SUBSCRIPTIONS_MAX,
} from "./rules.ts";
import {
  countSubscriptions,
  deleteCeiling,
  deleteHolds,
  deleteSubscription as deleteRow,
  findOperatedSubscription,
  type HeldSubscription,
  insertCeiling,
  insertHold,
  insertSubscription,
  listSubscriptions as list,
  lockHealth,
  type OperatedSubscription,
  type SealedSubscription,
  type Subscription,
} from "./sql.ts";

/** What operators decide about a subscription's attempts. An absent member stays as it is. */
interface OperatorsChange {
  /** Attempts a second, over all processes. Null: no limit. */
  maxPerSecond?: number | null | undefined;
  /** True: nothing is claimed, and attempts in flight end. */
  held?: boolean | undefined;
}

/** Limits, holds or releases a subscription, from the next claim on. */
export async function changeSubscription(
  { db, clock, nudge }: Pick<Dependencies, "db" | "clock" | "nudge">,
  id: SubscriptionId | null,
  { maxPerSecond, held }: OperatorsChange,
): Promise<OperatedSubscription> {
  requireNoFaults(changeFaults({ maxPerSecond, held }));
  const changed =
    id === null
      ? null
      : await db.begin(async (tx) => {
          const [health] = await lockHealth(tx, [id]); // One change at a time.
          if (maxPerSecond === null) await deleteCeiling(tx, id);
          else if (maxPerSecond !== undefined) {
            await insertCeiling(tx, id, { maxPerSecond, burst: burstOf(maxPerSecond) }, clock());
          }
          if (held === false) await deleteHolds(tx, [id]);
          const found = await findOperatedSubscription(tx, id);
          if (held !== true || !found) return found;
          if (health?.active !== true) throw notActive();
          await insertHold(tx, id, clock());
          return findOperatedSubscription(tx, id);
        });
  if (!changed) throw noSuch("resource");
  const { organizationId } = changed;
  if (held === false) nudge([{ subscriptionId: changed.id, organizationId }]);
  return changed;
}

function notActive(): PartnerError {
  const detail = "The subscription is auto-disabled: nothing of it waits that could be held.";
  return new PartnerError("subscription_inactive", detail);
}

/** A subscription and its signing secret. */
export type NewSubscription = Subscription & { secret: string };

/**
 * Subscribes a URL to events. The signing secret in the result is never shown again. `keep` writes in the same transaction,
 * before anything is locked.
 */
export async function createSubscription(
  { db: ofAll, clock, ring, checkDestination, rules }: Dependencies,
  organizationId: OrganizationId,
  { url, events }: { url: string; events: string[] },
  keep?: (tx: Queryable, id: SubscriptionId, created: NewSubscription) => Promise<void>,
): Promise<NewSubscription> {
  const db = ofAll.of(organizationId);
  requireFewEvents(events);
  await requireRoom(db, organizationId, rules.maxSubscriptions);

  const vetted = await checkDestination(url, organizationId);
  if (!vetted.ok) {
    const retryAfter = RETRY_AFTER_SECONDS.get(vetted.refusal);
    if (retryAfter !== undefined) {
      throw new PartnerError("unavailable", vetted.detail, { retryAfter });
    }
    throw new PartnerError("url_rejected", vetted.detail, {
      faults: [{ pointer: "/url", detail: vetted.detail }],
    });
  }

  const id = randomId();
  const secret = mintSigningSecret();
  const subscription = {
    id,
    organizationId,
    url,
    events,
    consecutiveFailures: 0,
    createdAt: clock(),
    autoDisabledAt: null,
  };
  await db.begin(async (tx) => {
    await keep?.(tx, id, { ...subscription, secret });
    if (!(await lockOrganization(tx, organizationId))) throw unauthenticated(); // It was closed just now.
    await requireRoom(tx, organizationId, rules.maxSubscriptions);
    const sealedSecret = seal(ring, id, secret);
    await insertSubscription(tx, { ...subscription, host: hostOf(url), sealedSecret });
  });
  return { ...subscription, secret };
}

/** Temporary refusals that do not depend on the URL. A running look-up has ended by then. */
const RETRY_AFTER_SECONDS = new Map<Refusal, number>([
  ["no_resolver", 60],
  ["too_many_lookups", 5],
]);

function requireFewEvents(events: readonly string[]): void {
  if (events.join(",").length <= EVENTS_LENGTH_MAX) return;
  const detail = `must have at most ${EVENTS_LENGTH_MAX} characters in all, with a comma between two types`;
  throw invalidRequest([{ pointer: "/events", detail }]);
}

async function requireRoom(
  db: Queryable,
  organizationId: OrganizationId,
  max: number,
): Promise<void> {
  if ((await countSubscriptions(db, organizationId)) >= max) {
    throw new PartnerError(
      "subscription_limit",
      `Your organization has ${max} subscriptions, the maximum: delete one first.`,
    );
  }
}

/** Returns the organization's subscriptions, newest first, auto-disabled ones included. */
export async function listSubscriptions(
  { db }: Pick<Dependencies, "db">,
  organizationId: OrganizationId,
): Promise<Subscription[]> {
  return list(db.of(organizationId), { organizationId, limit: SUBSCRIPTIONS_MAX });
}

/** Returns a subscription. Another organization's counts as absent. `organizationId` null: any organization's. */
export async function getSubscription(
  { batched }: Pick<Dependencies, "batched">,
  organizationId: OrganizationId | null,
  id: SubscriptionId | null,
): Promise<SealedSubscription> {
  const subscription =
    id === null ? null : await batched.findSubscription({ id, soughtBy: organizationId });
  if (!subscription) throw noSuch("resource");
  if (organizationId !== null && subscription.organizationId !== organizationId)
    throw noSuch("resource");
  return subscription;
}

/** Deletes a subscription with its secret, and cancels its queue. `organizationId` null: any organization's. */
export async function deleteSubscription(
  {
    db,
    clock,
    cancelling,
    activity,
  }: Pick<Dependencies, "db" | "clock" | "cancelling" | "activity">,
  organizationId: OrganizationId | null,
  id: SubscriptionId | null,
): Promise<void> {
  if (id === null) throw noSuch("resource");
  const own = organizationId === null ? db : db.of(organizationId);
  const { counts, isSomeLeft } = await own.begin(async (tx) => {
    const now = clock();
    if (!(await deleteRow(tx, id, { organizationId, now }))) throw noSuch("resource");
    await deleteHolds(tx, [id]);
    return cancelWaiting(tx, [id], now);
  });
  countCancelled(activity, counts);
  if (isSomeLeft) cancelling.cancelRest(id);
}

/** Throws unless `secret` is the subscription's. */
export function requireSecret(
  { ring }: Pick<Dependencies, "ring">,
  subscription: SealedSubscription,
  secret: string,
): void {
  const stored = openOnce(ring, subscription.id, subscription.sealedSecret);
  if (stored === null) {
    const why = whySealed(ring, subscription.sealedSecret);
    throw new Error(`the secret of ${publicId("wh", subscription.id)} ${why}`);
  }

  const [expected, given] = [Buffer.from(stored), Buffer.from(secret)];
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
    throw new PartnerError("secret_mismatch", "The secret does not belong to this subscription.");
  }
}

/** A subscription as operators see it, without its secret. */
export type OperatedSubscriptionView = ReturnType<typeof viewOperatedSubscription>;

export function viewOperatedSubscription(row: OperatedSubscription, keeping: Keeping) {
  const view = viewSubscription(row);
  return {
    ...view,
    organization: { id: view.organization_id, slug: row.organizationSlug },
    max_per_second: row.maxPerSecond,
    held_at: row.heldAt?.toISOString() ?? null,
    release_by: row.heldAt && releaseBy(row.heldAt, keeping).toISOString(),
  };
}

/** A held subscription, as the overview shows it. */
export type HeldView = ReturnType<typeof viewHeld>;

export function viewHeld(row: HeldSubscription, keeping: Keeping) {
  return {
    id: publicId("wh", row.id),
    organization: { id: publicId("org", row.organizationId), slug: row.organizationSlug },
    url: row.url,
    host: hostOf(row.url),
    held_at: row.heldAt.toISOString(),
    release_by: releaseBy(row.heldAt, keeping).toISOString(),
  };
}

/** A subscription as partners and operators see it, without its secret. */
export function viewSubscription(row: Subscription) {
  return {
    id: publicId("wh", row.id),
    organization_id: publicId("org", row.organizationId),
    url: row.url,
    events: row.events,
    active: row.autoDisabledAt === null,
    auto_disabled_at: row.autoDisabledAt?.toISOString() ?? null,
    consecutive_failures: row.consecutiveFailures,
    created_at: row.createdAt.toISOString(),
  };
}
