import { publicId } from "../../src/domain/ids.ts";
import type { Called } from "./callers.ts";
import type { Arrival } from "./journal.ts";
import type { Partner } from "./partner.ts";
import { organizationOf, type Publications } from "./publications.ts";

/** The experience of organizations in shards that no outage reaches. */
export interface Neighbours {
  /** The number of their requests that were answered with 503. */
  refusals: number;
  /** The times from the first request for an event to its arrival at a receiver, ascending. */
  receivedMs: number[];
}

export function neighboursOf({
  spared,
  partners,
  called,
  publications,
  arrivals,
}: {
  /** The names of these shards. */
  spared: readonly string[];
  partners: readonly Pick<Partner, "organization" | "shard">[];
  called: Pick<Called, "refusals">;
  publications: Pick<Publications, "answers" | "began" | "refusals">;
  arrivals: readonly Pick<Arrival, "event" | "at">[];
}): Neighbours {
  const neighbours = partners.filter(({ shard }) => spared.includes(shard));
  const organizations = new Set(neighbours.map(({ organization }) => organization));
  const firstAt = new Map<string, number>();
  for (const { event, at } of arrivals) firstAt.set(event, Math.min(at, firstAt.get(event) ?? at));

  const receivedMs: number[] = [];
  for (const [key, beganAt] of publications.began) {
    if (!organizations.has(organizationOf(key))) continue;
    const [event = ""] = publications.answers.get(key) ?? [];
    receivedMs.push((firstAt.get(publicId("evt", event)) ?? Infinity) - beganAt);
  }
  const sum = (tally: ReadonlyMap<string, number>, names: Iterable<string>) =>
    [...names].reduce((total, name) => total + (tally.get(name) ?? 0), 0);
  return {
    refusals: sum(called.refusals, spared) + sum(publications.refusals, organizations),
    receivedMs: receivedMs.sort((a, b) => a - b),
  };
}

/** How much longer events of these organizations may take while the other server is killed. */
const P99_RATIO_MAX = 1.3;

/** Judges the 99th percentiles without and with kills. Only a machine without other load gives figures that are worth a fault. */
export function faultsOfP99({ calm, harmed }: { calm: number; harmed: number }): string[] {
  const ratio = harmed / calm;
  if (ratio <= P99_RATIO_MAX) return [];
  return [
    `p99 with kills is ${ratio.toFixed(2)} × that without, at most ${P99_RATIO_MAX} × is right`,
  ];
}

/** Returns this share of the sorted times: 0.99 for the 99th percentile. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
}
