import { publicId } from "../../domain/ids.ts";
import type { Organization } from "../../postgres/organizations.ts";

/** An organization as operators see it. */
export interface OrganizationView {
  id: string;
  slug: string;
  rate_limit_per_minute: number;
  created_at: string;
  /** If there are several shards: its own. */
  shard?: string;
}

export function viewOrganization(row: Organization): OrganizationView {
  return {
    id: publicId("org", row.id),
    slug: row.slug,
    rate_limit_per_minute: row.rateLimitPerMinute,
    created_at: row.createdAt.toISOString(),
  };
}
