import type { DeliveryState } from "../../domain/delivery.ts";
import { hostOf } from "../../domain/destination-url.ts";
import { publicId } from "../../domain/ids.ts";
import type { AuditedAttempt } from "../../postgres/audit.ts";
import type { Delivery } from "../../postgres/deliveries.ts";
import type { Standing } from "../../postgres/subscriptions.ts";

/** A delivery as operators see it. */
export interface DeliveryView {
  id: string;
  event_id: string;
  event_type: string;
  subscription_id: string;
  organization_id: string;
  organization: { id: string; slug: string };
  /** The receiver's host. */
  host: string;
  /** The id of the request that published the event. Null if the service or the SQL function did. */
  request_id: string | null;
  redelivery_of: string | null;
  /** The latest redelivery of it. */
  redelivered_as: string | null;
  state: DeliveryState;
  attempts: number;
  /** The reason of the last failed attempt. Null if none has failed. */
  reason: string | null;
  created_at: string;
  /** When it may be attempted next. Null once it is finished. */
  due_at: string | null;
  finished_at: string | null;
}

/** One attempt, as the failures audit shows it. Includes successes. */
export interface AttemptView {
  id: string;
  subscription_id: string;
  event_id: string;
  event_type: string;
  attempt: number;
  status: AttemptStatus;
  http_status: number;
  reason: string | null;
  duration_ms: number;
  attempted_at: string;
  next_attempt_at: string | null;
}

export type AttemptStatus = "delivered" | "failed" | "dead_lettered";

/** The state of its subscription, which may have ended since, and the organization's name. */
export interface StandingView {
  organization_slug: string;
  url: string;
  auto_disabled_at: string | null;
  deleted_at: string | null;
}

/** A delivery with all its attempts, oldest first. */
export interface DeliveryDetail extends DeliveryView {
  subscription: StandingView;
  attempt_log: AttemptView[];
  /** Oldest first. */
  redeliveries: DeliveryView[];
}

export function viewDelivery(row: Delivery): DeliveryView {
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

export function viewStanding(row: Standing): StandingView {
  return {
    organization_slug: row.organizationSlug,
    url: row.url,
    auto_disabled_at: row.autoDisabledAt?.toISOString() ?? null,
    deleted_at: row.deletedAt?.toISOString() ?? null,
  };
}

export function viewAttempt(row: AuditedAttempt): AttemptView {
  return {
    id: publicId("att", row.id),
    subscription_id: publicId("wh", row.subscriptionId),
    event_id: publicId("evt", row.eventId),
    event_type: row.eventType,
    attempt: row.attempt,
    status: statusOf(row),
    http_status: row.httpStatus,
    reason: row.reason,
    duration_ms: row.durationMs,
    attempted_at: row.attemptedAt.toISOString(),
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
  };
}

function statusOf({ reason, isDeadLettered }: AuditedAttempt): AttemptStatus {
  if (reason === null) return "delivered";
  return isDeadLettered ? "dead_lettered" : "failed";
}
