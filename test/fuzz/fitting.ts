import fc from "fast-check";
import type { RouteOptions } from "fastify";
import { junkText, MARK } from "./junk.ts";

/** What a schema tells of what it describes. */
export interface Described {
  properties?: Record<string, { enum?: unknown[]; examples?: unknown[] }>;
  examples?: object[];
}

/** What is right for members, parameters and parts of a path of these names. */
const RIGHT = new Map<string, fc.Arbitrary<unknown>>(
  Object.entries({
    id: fc.constantFrom("«subscription»", "«delivery»", "«organization»"),
    key_id: fc.constant("«key_id»"),
    url: fc.constant(`https://hooks.example.com/${MARK}`),
    secret: fc.constantFrom("«secret»", `whsec_${MARK}`),
    to: fc.constantFrom("«receiving»", "«subscription»"),
    organization: fc.constantFrom("«organization»", "«slug»"),
    slug: fc.stringMatching(/^[a-z0-9][a-z0-9-]{1,62}$/),
    label: fc.constantFrom(null, MARK),
    limit: fc.constantFrom(1, 50, 200),
    subscription: fc.constant("«subscription»"),
    since: fc.constantFrom("2026-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"),
    until: fc.constantFrom("2026-12-31T23:59:60Z", "9999-12-31T23:59:59-00:01"),
    state: fc.constantFrom("waiting", "dead_lettered"),
    "*": fc.constant("«page»"),
  }),
);

export function right(name: string): fc.Arbitrary<unknown> {
  return RIGHT.get(name) ?? junkText;
}

export function hasRight(name: string): boolean {
  return RIGHT.has(name);
}

export function schemasOf({ schema }: RouteOptions): { body?: Described; querystring?: Described } {
  return (schema ?? {}) as { body?: Described; querystring?: Described };
}

/** Mostly the usual: `weight` times as often as the rare. */
export function often<T>(weight: number, usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>) {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });
}
