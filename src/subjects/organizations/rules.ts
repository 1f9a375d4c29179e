import { type Fault, rangeFaults } from "../../lib/errors.ts";
import { type OrganizationId, parseId } from "../../lib/ids.ts";

export const SLUG = /^[a-z0-9][a-z0-9-]{1,62}$/;

/** `SLUG` in words. */
export const SLUG_RULE = "2 to 63 characters of a-z, 0-9 and -, starting with a letter or a digit";

export const RATE_LIMIT_DEFAULT = 600;
export const RATE_LIMIT_MAX = 1_000_000;

export function slugFaults(slug: string): Fault[] {
  return SLUG.test(slug) ? [] : [{ pointer: "/slug", detail: `must be ${SLUG_RULE}` }];
}

export function rateLimitFaults(limit: number): Fault[] {
  return rangeFaults("/rate_limit_per_minute", limit, RATE_LIMIT_MAX);
}

export interface OrganizationName {
  id: OrganizationId | null;
  slug: string | null;
}

/** Reads `org_<uuid>` or a slug. */
export function organizationName(text: string): OrganizationName {
  return { id: parseId("org", text), slug: SLUG.test(text) ? text : null };
}
