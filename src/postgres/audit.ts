import type { Queryable } from "./database.ts";
import type { AttemptId, DeliveryId, EventId, SubscriptionId } from "../domain/ids.ts";

export interface AttemptRow {
  id: AttemptId;
  delivery_id: DeliveryId;
  subscription_id: SubscriptionId;
  event_id: EventId;
  event_type: string;
  attempt: number;
  http_status: number;
  reason: string | null;
  dead_lettered: boolean;
  duration_ms: number;
  attempted_at: Date;
  next_attempt_at: Date | null;
}

/** Returns failed attempts of a subscription, newest first, after `after`. */
export async function listFailures(
  db: Queryable,
  subscriptionId: SubscriptionId,
  { after, limit }: { after: string | null; limit: number },
): Promise<AttemptRow[]> {
  return db<AttemptRow[]>`
    select * from attempts
     where subscription_id = ${subscriptionId} and reason is not null
       ${after === null ? db`` : db`and id < ${after}`}
     order by id desc
     limit ${limit}`;
}

/** More attempts than RETRY_DELAYS allows. */
const LISTED_MAX = 100;

/** Returns all attempts of a delivery, oldest first. */
export async function listAttempts(db: Queryable, deliveryId: DeliveryId): Promise<AttemptRow[]> {
  return db<AttemptRow[]>`
    select * from audit where delivery_id = ${deliveryId} order by id limit ${LISTED_MAX}`;
}
