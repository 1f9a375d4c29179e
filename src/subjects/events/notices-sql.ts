import type { OrganizationId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";

/**
 * Records that the platform is notified of these organizations now. Returns those with no notice after `expired`. If two
 * processes call at the same time, one waits for the other, and each gets different organizations.
 */
export async function takeLimitNotices(
  tx: Queryable,
  organizationIds: readonly OrganizationId[],
  { now, expired }: { now: Date; expired: Date },
): Promise<OrganizationId[]> {
  const rows = await tx<{ organization_id: OrganizationId }[]>`
    insert into limit_notices as n (organization_id, at)
    select id, ${now} from unnest(${organizationIds.toSorted()}::uuid[]) as id order by id
        on conflict (organization_id) do update set at = excluded.at where n.at <= ${expired}
    returning organization_id`;
  return rows.map((row) => row.organization_id);
}
