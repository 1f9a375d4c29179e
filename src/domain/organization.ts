import type { Fault } from "./errors.ts";

export const SLUG = /^[a-z0-9][a-z0-9-]{1,62}$/;

/** `SLUG` in words. */
export const SLUG_RULE = "2 to 63 characters of a-z, 0-9 and -, starting with a letter or a digit";

export const RATE_LIMIT_DEFAULT = 600;
export const RATE_LIMIT_MAX = 1_000_000;

export function slugFaults(slug: string): Fault[] {
  return SLUG.test(slug) ? [] : [{ pointer: "/slug", detail: `must be ${SLUG_RULE}` }];
}

export function rateLimitFaults(limit: number): Fault[] {
  const isValid = Number.isInteger(limit) && limit >= 1 && limit <= RATE_LIMIT_MAX;
  const detail = `must be an integer from 1 to ${RATE_LIMIT_MAX}`;
  return isValid ? [] : [{ pointer: "/rate_limit_per_minute", detail }];
}
