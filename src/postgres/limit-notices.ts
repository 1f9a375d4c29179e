import type { OrganizationId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";

/**
 * Writes down that the platform is told of these organizations now, and returns those of which it was last told before or
 * at `expired`, or never. A second process that asks at the same time waits, and gets the others.
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
