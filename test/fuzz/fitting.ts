import fc from "fast-check";
import type { RouteOptions } from "fastify";
import { NESTED_DATA, pathsIn, replacedAt } from "../support/nested-type.ts";
import { junkText, junkValue, MARK } from "./junk.ts";

/** A schema as an OpenAPI document writes it. */
export interface Described {
  properties?: Record<string, { enum?: unknown[]; examples?: unknown[] }>;
  examples?: object[];
  oneOf?: Described[];
}

/** Data with a junk value at some depth. */
const bent = fc
  .tuple(fc.constantFrom(...pathsIn(NESTED_DATA)), junkValue)
  .map(([path, junk]) => replacedAt(NESTED_DATA, path, junk));

/** Valid values for members, parameters and path segments of these names. */
const RIGHT = new Map<string, fc.Arbitrary<unknown>>(
  Object.entries({
    id: fc.constantFrom(
      "«subscription»",
      "«delivery»",
      "«waiting»",
      "«organization»",
      "«event»",
      "«redelivery»",
    ),
    key_id: fc.constant("«key_id»"),
    token: fc.constant("«token»"),
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
    type: fc.constant("order.created"),
    data: often(2, fc.constantFrom({ amount: 1 }, { amount: 1, [MARK]: MARK }, NESTED_DATA), bent),
    occurred_at: fc.constant("2026-01-01T00:00:00Z"),
    dedupe_key: fc.constantFrom("k", MARK),
    state: fc.constantFrom("waiting", "dead_lettered", "paused"),
    filter: fc.constant({ organization: "«slug»", state: "dead_lettered" }),
    rate_per_second: fc.constant(50),
    max_per_second: fc.constantFrom(5, null),
    version: fc.constant("1.0.0"),
    host: fc.constant(MARK),
    pid: fc.constant(1),
    sources: fc.constant([]),
    q: fc.constantFrom("order.created", MARK),
    step: fc.constant("1m"),
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
  const { body, ...others } = (schema ?? {}) as { body?: Described; querystring?: Described };
  return body ? { ...others, body: withAllMembers(body) } : others;
}

/** A body of one of several shapes, with the members of them all. */
function withAllMembers(body: Described): Described {
  const shapes = (body.oneOf ?? []).map(({ properties }) => properties);
  return {
    ...body,
    properties: Object.assign({}, body.properties, ...shapes) as Described["properties"] & object,
  };
}

/** Chooses `usual` `weight` times as often as `rare`. */
export function often<T>(weight: number, usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>) {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });
}

export function knownId(url: string): string {
  if (url.endsWith("/attempt")) return "«waiting»";
  if (url.includes("events")) return "«event»";
  if (url.includes("bridges")) return "«bridge»";
  if (url.includes("redeliveries")) return "«redelivery»";
  if (url.includes("deliveries")) return "«delivery»";
  return url.includes("organizations") ? "«organization»" : "«subscription»";
}
