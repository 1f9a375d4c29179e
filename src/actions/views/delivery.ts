import type { DeliveryState } from "../../domain/delivery.ts";
import { hostOf } from "../../domain/destination-url.ts";
import { publicId } from "../../domain/ids.ts";
import type { AttemptRow } from "../../postgres/audit.ts";
import type { DeliveryRow } from "../../postgres/deliveries.ts";
import type { StandingRow } from "../../postgres/subscriptions.ts";

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

export function viewDelivery(row: DeliveryRow): DeliveryView {
  return {
    id: publicId("dlv", row.id),
    event_id: publicId("evt", row.event_id),
    event_type: row.event_type,
    subscription_id: publicId("wh", row.subscription_id),
    organization_id: publicId("org", row.organization_id),
    organization: { id: publicId("org", row.organization_id), slug: row.organization_slug },
    host: hostOf(row.url),
    request_id: row.request_id,
    redelivery_of: row.redelivery_of && publicId("dlv", row.redelivery_of),
    redelivered_as: row.redelivered_as && publicId("dlv", row.redelivered_as),
    state: row.state,
    attempts: row.attempts,
    reason: row.last_reason,
    created_at: row.created_at.toISOString(),
    due_at: row.due_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

export function viewStanding(row: StandingRow): StandingView {
  return {
    organization_slug: row.organization_slug,
    url: row.url,
    auto_disabled_at: row.auto_disabled_at?.toISOString() ?? null,
    deleted_at: row.deleted_at?.toISOString() ?? null,
  };
}

export function viewAttempt(row: AttemptRow): AttemptView {
  return {
    id: publicId("att", row.id),
    subscription_id: publicId("wh", row.subscription_id),
    event_id: publicId("evt", row.event_id),
    event_type: row.event_type,
    attempt: row.attempt,
    status: statusOf(row),
    http_status: row.http_status,
    reason: row.reason,
    duration_ms: row.duration_ms,
    attempted_at: row.attempted_at.toISOString(),
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  };
}

function statusOf({ reason, dead_lettered }: AttemptRow): AttemptStatus {
  if (reason === null) return "delivered";
  return dead_lettered ? "dead_lettered" : "failed";
}
