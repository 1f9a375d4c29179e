import { groupBy } from "../lib/objects.ts";
import { PAGE_LIMIT, positionIn } from "../lib/page.ts";
import { MARKS_MAX, type MarkView } from "../subjects/activity/marks.ts";
import { type Overview, RANKED_MAX, withoutParts } from "../subjects/activity/overview.ts";
import {
  type Latency,
  latencyOf,
  mergeHistograms,
  type Problem,
  type ServiceStatus,
} from "../subjects/activity/rules.ts";
import { type ActivityView, type NearLimitView, shareOf } from "../subjects/activity/work.ts";
import { hostIn } from "../subjects/deliveries/query.ts";
import { DELIVERY_STATES, type DeliveryState } from "../subjects/deliveries/rules.ts";
import { COUNTED_EXACTLY } from "../subjects/deliveries/search-sql.ts";
import type { EventTypeView } from "../subjects/events/work.ts";
import type { DeliveriesPageView } from "../subjects/listings.ts";
import { type Found, FOUND_MAX } from "../subjects/operators/find.ts";
import type { ProcessView } from "../subjects/processes/work.ts";
import type { Part } from "./cells.ts";

export interface CellPage {
  items: object[];
  next_cursor: string | null;
  /** The cursor of each item. */
  cursors: string[];
}

/**
 * Merges pages of the same request. A page that has a next one is known up to its `next_cursor`, so the merged page ends there
 * as well. Items at one position stay together: `combine` makes one of them, for lists of what all cells have.
 */
export function mergePages(
  pages: CellPage[],
  {
    limit = PAGE_LIMIT.default,
    isAscending,
    combine = (items) => items,
  }: {
    limit?: number | undefined;
    isAscending: boolean;
    combine?: ((items: object[]) => object[]) | undefined;
  },
): Pick<CellPage, "items" | "next_cursor"> {
  const isBehind = (a: string, b: string) => (isAscending ? a > b : a < b);
  const compare = (a: { at: string }, b: { at: string }) =>
    isBehind(a.at, b.at) ? 1 : Number(isBehind(b.at, a.at)) * -1;
  const withPosition = (cursor: string) => ({ cursor, at: positionIn(cursor) });
  const entries = pages.flatMap(({ items, cursors }) =>
    items.map((item, i) => ({ item, ...withPosition(cursors[i] ?? "") })),
  );
  const ends = pages.flatMap(({ next_cursor: next }) =>
    next === null ? [] : [withPosition(next)],
  );
  const [end = null] = ends.sort(compare);
  const known = entries.filter((entry) => end === null || compare(entry, end) <= 0).sort(compare);
  const groups = [...groupBy(known, ({ at }) => at).values()];
  const shown = groups.slice(0, limit);
  const last = shown.at(-1)?.[0]?.cursor ?? null;
  return {
    items: shown.flatMap((group) => combine(group.map(({ item }) => item))),
    next_cursor: groups.length > limit ? last : (end?.cursor ?? null),
  };
}

/** The rest of a page that cells answer with an operation's lists, merged. */
export const EXTRAS: ReadonlyMap<string, (pages: CellPage[]) => object> = new Map([
  ["listDeliveries", (pages) => mergeCounts(pages as (CellPage & Counted)[])],
]);

type Counted = Pick<DeliveriesPageView, "searched_until" | "counts">;

/** Beyond what is counted exactly, one number stands for more. */
function mergeCounts(pages: Counted[]): Counted {
  const ends = pages.flatMap((page) => page.searched_until ?? []).sort();
  const counts = pages.flatMap((page) => page.counts ?? []);
  const inState = (state: DeliveryState) =>
    Math.min(COUNTED_EXACTLY + 1, sum(counts.map((one) => one[state])));
  const merged = Object.fromEntries(DELIVERY_STATES.map((state) => [state, inState(state)]));
  return {
    searched_until: ends.at(-1) ?? null,
    ...(counts.length > 0 && { counts: merged as Record<DeliveryState, number> }),
  };
}

interface Items<Item> {
  items: Item[];
}

/** What all cells answer to an operation, in one answer. `query` is that of the request. */
type Merge = (parts: Part<never>[], query: Record<string, unknown>) => object;

export const MERGES: ReadonlyMap<string, Merge> = new Map<string, Merge>([
  ["getSession", (parts: Part<object>[]) => ({ ...parts[0]?.body })],
  ["listCells", concat],
  ["find", mergeFound],
  ["listMarks", mergeMarks],
  ["listProcesses", (parts) => ({ items: processesOf(parts) })],
  ["listActivity", mergeActivity],
]);

/** The items of lists that all cells have at one position. In other lists each item is in one cell. */
export const COMBINED: ReadonlyMap<string, (items: object[]) => object[]> = new Map([
  ["listEventTypes", (items) => [combineUses(items as EventTypeView[])]],
]);

function concat(parts: Part<Items<object>>[]): Items<object> {
  return { items: parts.flatMap(({ body }) => body.items) };
}

function combineUses(uses: EventTypeView[]): object {
  const times = uses.flatMap((use) => use.last_published_at ?? []).sort();
  const subscriptions = sum(uses.map((use) => use.subscriptions));
  return { ...uses[0], subscriptions, last_published_at: times.at(-1) ?? null };
}

/** Exact matches come first. */
function mergeFound(parts: Part<Items<Found>>[], { q }: Record<string, unknown>): Items<Found> {
  const text = typeof q === "string" ? q.trim().toLowerCase() : "";
  const isExact = ({ label }: Found) => Number(label === text || label === hostIn(text));
  const all = parts.flatMap(({ body }) => body.items);
  const found = [...new Map(all.map((one) => [`${one.kind} ${one.id}`, one])).values()];
  return { items: found.sort((a, b) => isExact(b) - isExact(a)).slice(0, FOUND_MAX) };
}

function mergeMarks(parts: Part<Items<MarkView>>[]): Items<MarkView> {
  const marks = parts.flatMap(({ body }) => body.items);
  return { items: marks.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MARKS_MAX) };
}

function processesOf(parts: Part<Items<ProcessView>>[]): (ProcessView & { cell: string })[] {
  const all = parts.flatMap(({ cell, body }) =>
    body.items.map((one) => ({ ...one, cell: cell.name })),
  );
  return all.sort((a, b) => (a.started_at < b.started_at ? 1 : -1));
}

function mergeActivity(parts: Part<Items<ActivityView>>[]): Items<ActivityView> {
  const points = parts.flatMap(({ body }) => body.items);
  const byTime = [...groupBy(points, ({ at }) => at)].sort(([a], [b]) => (a < b ? -1 : 1));
  return { items: byTime.map(([at, ofTime]) => sumPoints(at, ofTime)) };
}

function sumPoints(at: string, points: ActivityView[]): ActivityView {
  const reasons: Record<string, number> = {};
  for (const [reason, count] of points.flatMap((point) => Object.entries(point.by_reason)))
    reasons[reason] = (reasons[reason] ?? 0) + count;
  const total = (name: "published" | "attempts" | "succeeded" | "failed") =>
    sum(points.map((point) => point[name]));
  return {
    ...points[0], // The requests of an organization are counted in one cell only.
    ...{ at, published: total("published"), attempts: total("attempts") },
    ...{ succeeded: total("succeeded"), failed: total("failed"), by_reason: reasons },
    attempt_ms: mergeLatencies(points.map((point) => point.attempt_ms)),
    end_to_end_ms: mergeLatencies(points.map((point) => point.end_to_end_ms)),
  };
}

/** `away`: a problem for each cell that does not answer. */
export function mergeOverviews(parts: Part<Overview>[], away: Problem[]): Overview {
  return withoutParts(sumOverviews(parts, away));
}

function sumOverviews(parts: Part<Overview>[], away: Problem[]): Overview {
  const all = parts.map(({ body }) => body);
  const now = all.map((one) => one.now);
  const day = (name: keyof Overview["last_24h"]) => sumKnown(all.map((one) => one.last_24h[name]));
  const attempts = now.map(({ attempt_ms: { buckets = {} } }) => sum(Object.values(buckets)));
  const succeeded = now.map(({ success_share: share }, i) => (share ?? 0) * (attempts[i] ?? 0));
  const perSecond = sumKnown(now.map((one) => one.deliveries_per_second));
  const problems = parts.flatMap(({ cell, body }) =>
    body.problems.map((one) => ({ ...one, detail: `cell ${cell.name}: ${one.detail}` })),
  );
  return {
    status: statusOf(all, away),
    problems: [...away, ...problems].sort((a, b) => (a.since < b.since ? -1 : 1)),
    now: {
      deliveries_per_second: perSecond === null ? null : Math.round(10 * perSecond) / 10,
      success_share: shareOf(sum(succeeded), sum(attempts)),
      attempt_ms: mergeLatencies(now.map((one) => one.attempt_ms)),
      waiting: {
        due: sumKnown(now.map(({ waiting }) => waiting.due)),
        scheduled: sumKnown(now.map(({ waiting }) => waiting.scheduled)),
        held: sumKnown(now.map(({ waiting }) => waiting.held)),
        estimated: now.some(({ waiting }) => waiting.estimated),
      },
      oldest_due_seconds:
        known(now.map((one) => one.oldest_due_seconds)).sort((a, b) => b - a)[0] ?? null,
      attempts_under_way: sumKnown(now.map((one) => one.attempts_under_way)),
    },
    last_24h: {
      ...{ published: day("published"), delivered: day("delivered") },
      ...{ dead_lettered: day("dead_lettered"), cancelled: day("cancelled") },
      disabled: day("disabled"),
    },
    failing: first(all.flatMap(({ failing }) => failing)),
    slowest: first(all.flatMap(({ slowest }) => slowest)),
    near_limit: first(
      all.flatMap(({ near_limit: near }) => near),
      shareOfLimit,
    ),
    held: all
      .flatMap(({ held }) => held)
      .sort((a, b) => (a.held_at < b.held_at ? -1 : 1))
      .slice(0, RANKED_MAX),
    processes: processesOf(
      parts.map(({ cell, body }) => ({ cell, body: { items: body.processes } })),
    ),
    bridges: all.flatMap(({ bridges = [] }) => bridges),
  };
}

function statusOf(all: Overview[], away: Problem[]): ServiceStatus {
  if (all.every(({ status }) => status === "down")) return "down";
  return away.length === 0 && all.every(({ status }) => status === "ok") ? "ok" : "degraded";
}

/** Returns the first items of lists that are ordered by a measure. */
function first<Item extends object>(
  items: Item[],
  measureOf = (item: Item & { measure?: number }) => item.measure ?? 0,
): Item[] {
  return items.sort((a, b) => measureOf(b) - measureOf(a)).slice(0, RANKED_MAX);
}

const shareOfLimit = (row: NearLimitView) => row.busiest_minute / row.rate_limit_per_minute;

function mergeLatencies(latencies: Latency[]): Latency {
  const histograms = latencies.map(({ buckets = {} }) =>
    Object.entries(buckets).map(([bucket, count]) => [Number(bucket), count] as const),
  );
  return latencyOf(mergeHistograms(histograms.map((one) => new Map(one))));
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
const known = (numbers: (number | null)[]) => numbers.filter((one) => one !== null);

/** Null if no cell knows its number. */
function sumKnown(numbers: (number | null)[]): number | null {
  const all = known(numbers);
  return all.length === 0 ? null : sum(all);
}
