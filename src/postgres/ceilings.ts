import type { SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";

/** Gives a subscription a full token bucket, or changes the existing one. Does nothing if the subscription does not exist. */
export async function insertCeiling(
  db: Queryable,
  subscriptionId: SubscriptionId,
  { maxPerSecond, burst }: { maxPerSecond: number; burst: number },
  now: Date,
): Promise<void> {
  await db`
    insert into subscription_ceilings as c (subscription_id, max_per_second, burst, full_at)
    select id, ${maxPerSecond}, ${burst}, ${now}
      from subscriptions
     where id = ${subscriptionId} and deleted_at is null
        on conflict (subscription_id) do update
       set max_per_second = excluded.max_per_second, burst = excluded.burst`;
}

export async function deleteCeiling(db: Queryable, id: SubscriptionId): Promise<void> {
  await db`delete from subscription_ceilings where subscription_id = ${id}`;
}
