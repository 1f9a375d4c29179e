import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { SubscriptionOrder } from "../domain/subscription.ts";
import type { Queryable } from "./database.ts";
import { type Subscription, subscriptionColumns } from "./subscriptions.ts";

/** A subscription as operators see it. */
export interface OperatedSubscription extends Subscription {
  organizationSlug: string;
  /** The ceiling on its attempts. Null: none. */
  maxPerSecond: number | null;
}

/** A place in a list of subscriptions. The first two members count only in the order `failing`. */
export type SubscriptionPlace = Pick<Subscription, "createdAt" | "id"> & {
  isDisabled: boolean;
  failures: number;
};

/** Returns subscriptions, newest first by default, auto-disabled ones included, deleted ones not. */
export async function listSubscriptions(
  db: Queryable,
  {
    organizationId = null,
    active = null,
    order = "newest",
    after = null,
    limit,
  }: {
    organizationId?: OrganizationId | null;
    active?: boolean | null;
    order?: SubscriptionOrder;
    after?: SubscriptionPlace | null;
    limit: number;
  },
): Promise<OperatedSubscription[]> {
  const isNewest = order === "newest";
  return db<OperatedSubscription[]>`
    select ${subscriptionColumns(db)}, ${selectForOperators(db)}
      from subscriptions
     where deleted_at is null
       ${organizationId === null ? db`` : db`and organization_id = ${organizationId}`}
       ${active === null ? db`` : db`and (auto_disabled_at is null) = ${active}`}
       ${
         after === null
           ? db``
           : isNewest
             ? db`and (created_at, id) < (${after.createdAt}, ${after.id})`
             : db`and (auto_disabled_at is not null, consecutive_failures, created_at, id)
                   < (${after.isDisabled}::boolean, ${after.failures}::int, ${after.createdAt}::timestamptz, ${after.id}::uuid)`
       }
     order by ${isNewest ? db`` : db`auto_disabled_at is not null desc, consecutive_failures desc,`} created_at desc, id desc
     limit ${limit}`;
}

/** Null if absent or deleted. */
export async function findOperatedSubscription(
  db: Queryable,
  id: SubscriptionId,
): Promise<OperatedSubscription | null> {
  const [row] = await db<OperatedSubscription[]>`
    select ${subscriptionColumns(db)}, ${selectForOperators(db)}
      from subscriptions
     where id = ${id} and deleted_at is null`;
  return row ?? null;
}

function selectForOperators(db: Queryable) {
  return db`
    (select slug from organizations o where o.id = subscriptions.organization_id) as "organizationSlug",
    (select max_per_second from subscription_ceilings c where c.subscription_id = subscriptions.id) as "maxPerSecond"`;
}

/** Returns the subscriptions that were auto-disabled since then, deleted ones included, latest first. */
export async function listDisabled(
  db: Queryable,
  since: Date,
  limit: number,
): Promise<{ host: string | null; at: Date }[]> {
  return db<{ host: string | null; at: Date }[]>`
    select host, auto_disabled_at as at
      from subscriptions
     where auto_disabled_at >= ${since}
     order by auto_disabled_at desc
     limit ${limit}`;
}
