import type { Queryable } from "./database.ts";
import type { AttemptId, DeliveryId, EventId, SubscriptionId } from "../domain/ids.ts";

/** An attempt as the audit shows it. */
export interface AuditedAttempt {
  id: AttemptId;
  subscriptionId: SubscriptionId;
  eventId: EventId;
  eventType: string;
  attempt: number;
  httpStatus: number;
  reason: string | null;
  detail: string | null;
  isDeadLettered: boolean;
  durationMs: number;
  attemptedAt: Date;
  nextAttemptAt: Date | null;
}

function columns(db: Queryable) {
  return db`
    id, subscription_id as "subscriptionId", event_id as "eventId", event_type as "eventType", attempt,
    http_status as "httpStatus", reason, detail, dead_lettered as "isDeadLettered", duration_ms as "durationMs",
    attempted_at as "attemptedAt", next_attempt_at as "nextAttemptAt"`;
}

/** Returns failed attempts of a subscription, newest first, after `after`. */
export async function listFailures(
  db: Queryable,
  subscriptionId: SubscriptionId,
  { after, limit }: { after: string | null; limit: number },
): Promise<AuditedAttempt[]> {
  return db<AuditedAttempt[]>`
    select ${columns(db)} from attempts
     where subscription_id = ${subscriptionId} and reason is not null
       ${after === null ? db`` : db`and id < ${after}`}
     order by id desc
     limit ${limit}`;
}

/** More attempts than RETRY_DELAYS allows. */
const LISTED_MAX = 100;

/** Returns all attempts of a delivery, oldest first. */
export async function listAttempts(
  db: Queryable,
  deliveryId: DeliveryId,
): Promise<AuditedAttempt[]> {
  return db<AuditedAttempt[]>`
    select ${columns(db)} from audit where delivery_id = ${deliveryId} order by id limit ${LISTED_MAX}`;
}
