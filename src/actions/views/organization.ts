import { publicId } from "../../domain/ids.ts";
import type { OrganizationRow } from "../../postgres/organizations.ts";

/** An organization as operators see it. */
export interface OrganizationView {
  id: string;
  slug: string;
  rate_limit_per_minute: number;
  created_at: string;
  /** If there are several shards: its own. */
  shard?: string;
}

export function viewOrganization(row: OrganizationRow): OrganizationView {
  return {
    id: publicId("org", row.id),
    slug: row.slug,
    rate_limit_per_minute: row.rate_limit_per_minute,
    created_at: row.created_at.toISOString(),
  };
}
