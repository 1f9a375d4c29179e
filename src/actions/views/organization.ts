import { publicId } from "../../domain/ids.ts";
import type { Organization } from "../../postgres/organizations.ts";

/** An organization as operators see it. */
export type OrganizationView = ReturnType<typeof viewOrganization>;

export function viewOrganization(row: Organization) {
  return {
    id: publicId("org", row.id),
    slug: row.slug,
    rate_limit_per_minute: row.rateLimitPerMinute,
    created_at: row.createdAt.toISOString(),
  };
}
