import type { KeyId, OrganizationId } from "../../lib/ids.ts";
import { arrayText } from "../../postgres/array-text.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Scope } from "./rules.ts";

/** A token as a request presents it. */
export interface Presented {
  keyId: KeyId;
  /** Hex. */
  secretHash: string;
}

/** An active key. If the secret was right, also the state of its organization's window. */
export interface PresentedKey extends Presented {
  scopes: Scope[];
  organizationId: OrganizationId;
  slug: string;
  rateLimitPerMinute: number;
  isCounted: boolean;
  /** ISO 8601. Null if nothing was counted or there is no window yet. */
  openedAt: string | null;
  /** Requests that the window had counted before these. */
  usedBefore: number | null;
}

/**
 * Finds keys and counts the `requests` that present them. A request with the right secret counts in its organization's window, up to the limit.
 * If a window opened at or before `expired`, a new one opens. The counts are exact across processes, because the rows are
 * locked in one order.
 *
 * For an unknown id, the first key of the table is read instead and dropped here, so that both cases take the same time. The
 * caller compares the hashes again, in constant time.
 */
export async function admitKeys(
  db: Queryable,
  presented: (Presented & { requests: number })[],
  { now, expired }: { now: Date; expired: Date },
): Promise<PresentedKey[]> {
  // One JSON value, because the driver takes twice as long for rows with so many columns.
  const [answer] = await db<[{ keys: (PresentedKey & { isActive: boolean })[] | null }]>`
    with credential as (
      select p.requests, k.key_id, k.secret_hash, k.scopes, k.organization_id, o.slug, o.rate_limit_per_minute,
             k.key_id = p.key_id and k.revoked_at is null as is_active,
             k.key_id = p.key_id and k.revoked_at is null and k.secret_hash = decode(p.secret_hash, 'hex') as is_counted
        from unnest(${arrayText(presented.map((p) => p.keyId))}::text::text[],
                    ${arrayText(presented.map((p) => p.secretHash))}::text::text[],
                    ${arrayText(presented.map((p) => p.requests))}::text::int[]) as p (key_id, secret_hash, requests)
       cross join lateral (
         (select key_id, secret_hash, scopes, organization_id, revoked_at from api_keys where key_id = p.key_id)
         union all
         (select key_id, secret_hash, scopes, organization_id, revoked_at from api_keys order by key_id limit 1)
         limit 1
       ) k
        join organizations o on o.id = k.organization_id
    ),
    wanted as (
      select organization_id, rate_limit_per_minute as quota, sum(requests)::int as requests
        from credential
       where is_counted
       group by organization_id, rate_limit_per_minute
    ),
    before as (
      select r.*, case when w.opened_at <= ${expired} then ${now}::timestamptz else w.opened_at end as opens_at,
             case when w.opened_at <= ${expired} then 0 else w.used end as used_before
        from wanted r
        join rate_windows w using (organization_id)
       order by w.organization_id
         for update of w
    ),
    counted as (
      update rate_windows w
         set opened_at = b.opens_at, used = greatest(b.used_before, least(b.used_before + b.requests, b.quota))
        from before b
       where w.organization_id = b.organization_id
      returning w.organization_id, w.opened_at, b.used_before
    )
    select json_agg(key) as keys
      from (
        select c.key_id as "keyId", encode(c.secret_hash, 'hex') as "secretHash", c.scopes,
               c.organization_id as "organizationId", c.slug, c.rate_limit_per_minute as "rateLimitPerMinute",
               c.is_active as "isActive", c.is_counted as "isCounted", n.opened_at as "openedAt",
               n.used_before as "usedBefore"
          from credential c
          left join counted n on n.organization_id = c.organization_id
      ) key`;
  return (answer.keys ?? []).filter((key) => key.isActive);
}

/** Gives an expired window to each organization that has none. */
export async function insertWindows(
  db: Queryable,
  organizationIds: OrganizationId[],
): Promise<void> {
  await db`
    insert into rate_windows (organization_id, opened_at, used)
    select id, '-infinity', 0 from unnest(${organizationIds.toSorted()}::uuid[]) as id
    on conflict do nothing`;
}
