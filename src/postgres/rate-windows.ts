import type { Queryable } from "./database.ts";

export interface WindowUse {
  organization_id: string;
  opened_at: Date;
  /** Requests that the window had seen before these. */
  used_before: number;
}

/**
 * Counts `wanted` more requests in each organization's window, up to `quota`, and opens a new window where the old one
 * began at or before `expired`. Exact across processes: the rows are locked, in one order.
 */
export async function countRequests(
  db: Queryable,
  requests: { organization_id: string; wanted: number; quota: number }[],
  { now, expired }: { now: Date; expired: Date },
): Promise<WindowUse[]> {
  const sorted = requests.toSorted((a, b) => (a.organization_id < b.organization_id ? -1 : 1));
  return db<WindowUse[]>`
    with request as (
      select *
        from unnest(${sorted.map((r) => r.organization_id)}::uuid[], ${sorted.map((r) => r.wanted)}::int[],
                    ${sorted.map((r) => r.quota)}::int[]) as r (organization_id, wanted, quota)
    ),
    before as (
      select r.*, case when w.opened_at <= ${expired} then ${now}::timestamptz else w.opened_at end as opens_at,
             case when w.opened_at <= ${expired} then 0 else w.used end as used_before
        from request r
        join rate_windows w using (organization_id)
       order by w.organization_id
         for update of w
    )
    update rate_windows w
       set opened_at = b.opens_at, used = greatest(b.used_before, least(b.used_before + b.wanted, b.quota))
      from before b
     where w.organization_id = b.organization_id
    returning w.organization_id, w.opened_at, b.used_before`;
}

/** Gives the organizations that have none a window, which is over already. */
export async function insertWindows(db: Queryable, organizationIds: string[]): Promise<void> {
  await db`
    insert into rate_windows (organization_id, opened_at, used)
    select id, '-infinity', 0 from unnest(${organizationIds.toSorted()}::uuid[]) as id
    on conflict do nothing`;
}
