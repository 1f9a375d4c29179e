import { hostOf } from "../../egress/index.ts";
import { publicId } from "../../domain/ids.ts";
import type { AuditedAttempt } from "../../postgres/audit.ts";
import type { Delivery } from "../../postgres/deliveries.ts";
import type { Standing } from "../../postgres/subscriptions.ts";

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
  };
}

export function viewStanding(row: Standing) {
  return {
    organization_slug: row.organizationSlug,
    url: row.url,
    auto_disabled_at: row.autoDisabledAt?.toISOString() ?? null,
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}

export function viewAttempt(row: AuditedAttempt) {
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
