import { hostOf } from "../../egress/index.ts";
import { noSuch } from "../../lib/errors.ts";
import {
  type DeliveryId,
  type OrganizationId,
  publicId,
  type SubscriptionId,
  UUID,
} from "../../lib/ids.ts";
import type { Page, PageRequest } from "../../lib/page.ts";
import { inSnapshot, type Queryable } from "../../postgres/database.ts";
import type { Dependencies } from "../dependencies.ts";
import { readPage } from "../pages.ts";
import { findStanding, type Standing } from "../subscriptions/sql.ts";
import { getSubscription } from "../subscriptions/work.ts";
import {
  type AuditedAttempt,
  type Delivery,
  findDelivery,
  listAttempts,
  listFailures,
  listRedeliveriesOf,
} from "./sql.ts";

/** A delivery as operators see it. */
export type DeliveryView = ReturnType<typeof viewDelivery>;

/** One attempt, as the failures audit shows it. Includes successes. */
export type AttemptView = ReturnType<typeof viewAttempt>;

/** The state of its subscription, which may have ended since, and the organization's name. */
export type StandingView = ReturnType<typeof viewStanding>;

/** A delivery with all its attempts, oldest first. */
export interface DeliveryDetail extends DeliveryView {
  subscription: StandingView;
  attempt_log: AttemptView[];
  /** Oldest first. */
  redeliveries: DeliveryView[];
}

export function viewDelivery(row: Delivery) {
  return {
    id: publicId("dlv", row.id),
    event_id: publicId("evt", row.eventId),
    event_type: row.eventType,
    subscription_id: publicId("wh", row.subscriptionId),
    organization_id: publicId("org", row.organizationId),
    organization: { id: publicId("org", row.organizationId), slug: row.organizationSlug },
    host: hostOf(row.url),
    request_id: row.requestId,
    redelivery_of: row.redeliveryOf && publicId("dlv", row.redeliveryOf),
    redelivered_as: row.redeliveredAs && publicId("dlv", row.redeliveredAs),
    state: row.state,
    attempts: row.attempts,
    reason: row.lastReason,
    created_at: row.createdAt.toISOString(),
    due_at: row.dueAt?.toISOString() ?? null,
    finished_at: row.finishedAt?.toISOString() ?? null,
    held_at: row.heldAt?.toISOString() ?? null,
    cancel_reason: row.cancelReason,
  };
}

function viewStanding(row: Standing) {
  return {
    organization_slug: row.organizationSlug,
    url: row.url,
    auto_disabled_at: row.autoDisabledAt?.toISOString() ?? null,
    deleted_at: row.deletedAt?.toISOString() ?? null,
    held_at: row.heldAt?.toISOString() ?? null,
  };
}

function viewAttempt(row: AuditedAttempt) {
  return {
    id: publicId("att", row.id),
    subscription_id: publicId("wh", row.subscriptionId),
    event_id: publicId("evt", row.eventId),
    event_type: row.eventType,
    attempt: row.attempt,
    status: statusOf(row),
    http_status: row.httpStatus,
    reason: row.reason,
    detail: row.detail,
    duration_ms: row.durationMs,
    attempted_at: row.attemptedAt.toISOString(),
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
  };
}

function statusOf({ reason, isDeadLettered }: AuditedAttempt) {
  if (reason === null) return "delivered";
  return isDeadLettered ? "dead_lettered" : "failed";
}

/** More by hand are hardly ever useful. */
const REDELIVERIES_MAX = 100;

/** Returns a delivery of any organization, with all its attempts, its redeliveries and the state of its subscription. */
export async function getDelivery(
  { db }: Pick<Dependencies, "db">,
  id: DeliveryId | null,
): Promise<DeliveryDetail> {
  const found = id === null ? null : await inSnapshot(db, (tx) => findDetail(tx, id));
  if (!found) throw noSuch("delivery");
  const { delivery, standing, attempts, redeliveries } = found;
  return {
    ...viewDelivery(delivery),
    subscription: viewStanding(standing),
    attempt_log: attempts.map((row) => viewAttempt(row)),
    redeliveries: redeliveries.map((row) => viewDelivery(row)),
  };
}

async function findDetail(tx: Queryable, id: DeliveryId) {
  const delivery = await findDelivery(tx, id);
  const standing = delivery && (await findStanding(tx, delivery.subscriptionId));
  if (!standing) return null;
  const attempts = await listAttempts(tx, id);
  const redeliveries = await listRedeliveriesOf(tx, id, REDELIVERIES_MAX);
  return { delivery, standing, attempts, redeliveries };
}

const ATTEMPT_ID = new RegExp(`^${UUID}$`);

/**
 * Returns a page of a subscription's failed attempts, newest first. A cursor is valid for its subscription only. If
 * `organizationId` is null, the subscription may be any organization's.
 */
export async function pageOfFailures(
  deps: Pick<Dependencies, "db" | "batched">,
  organizationId: OrganizationId | null,
  { id, ...request }: PageRequest & { id: SubscriptionId | null },
): Promise<Page<AttemptView>> {
  return readPage(request, {
    name: `failures of ${id}`,
    form: ATTEMPT_ID,
    positionOf: (row) => row.id,
    rows: async (after, limit) => {
      const subscription = await getSubscription(deps, organizationId, id);
      return listFailures(deps.db.of(subscription.organizationId), subscription.id, {
        after,
        limit,
      });
    },
    view: viewAttempt,
  });
}
