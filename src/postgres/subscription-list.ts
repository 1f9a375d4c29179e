import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { SubscriptionOrder } from "../domain/subscription.ts";
import type { Queryable } from "./database.ts";
import { COLUMNS, type SubscriptionRow } from "./subscriptions.ts";

/** A subscription as operators see it. */
export interface OperatedSubscriptionRow extends SubscriptionRow {
  organization_slug: string;
  /** The ceiling on its attempts. Null: none. */
  max_per_second: number | null;
}

/** A place in a list of subscriptions. The first two members count only in the order `failing`. */
export type SubscriptionPlace = Pick<SubscriptionRow, "created_at" | "id"> & {
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
): Promise<OperatedSubscriptionRow[]> {
  const isNewest = order === "newest";
  return db<OperatedSubscriptionRow[]>`
    select ${db(COLUMNS)}, ${selectForOperators(db)}
      from subscriptions
     where deleted_at is null
       ${organizationId === null ? db`` : db`and organization_id = ${organizationId}`}
       ${active === null ? db`` : db`and (auto_disabled_at is null) = ${active}`}
       ${
         after === null
           ? db``
           : isNewest
             ? db`and (created_at, id) < (${after.created_at}, ${after.id})`
             : db`and (auto_disabled_at is not null, consecutive_failures, created_at, id)
                   < (${after.isDisabled}::boolean, ${after.failures}::int, ${after.created_at}::timestamptz, ${after.id}::uuid)`
       }
     order by ${isNewest ? db`` : db`auto_disabled_at is not null desc, consecutive_failures desc,`} created_at desc, id desc
     limit ${limit}`;
}

/** Null if absent or deleted. */
export async function findOperatedSubscription(
  db: Queryable,
  id: SubscriptionId,
): Promise<OperatedSubscriptionRow | null> {
  const [row] = await db<OperatedSubscriptionRow[]>`
    select ${db(COLUMNS)}, ${selectForOperators(db)}
      from subscriptions
     where id = ${id} and deleted_at is null`;
  return row ?? null;
}

function selectForOperators(db: Queryable) {
  return db`
    (select slug from organizations o where o.id = subscriptions.organization_id) as organization_slug,
    (select max_per_second from subscription_ceilings c where c.subscription_id = subscriptions.id) as max_per_second`;
}

/** Returns what was auto-disabled since then, deleted ones included, latest first. */
export async function listDisabled(
  db: Queryable,
  since: Date,
  limit: number,
): Promise<{ host: string | null; auto_disabled_at: Date }[]> {
  return db<{ host: string | null; auto_disabled_at: Date }[]>`
    select host, auto_disabled_at
      from subscriptions
     where auto_disabled_at >= ${since}
     order by auto_disabled_at desc
     limit ${limit}`;
}
