import { pathOf } from "../api/call.ts";
import type { Activity, ActivityPoint } from "../api/shapes.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { useNow } from "../components/use-now.ts";
import { SPANS, type SpanName } from "./spans.ts";

export interface ActivityScope {
  organization?: string;
  subscription?: string;
}

const NONE: ActivityPoint[] = [];

/** The activity of a span until now, with a point for each step. */
export function useActivity(
  span: SpanName,
  scope: ActivityScope = {},
): Query<Activity> & { points: ActivityPoint[] } {
  const { ms, step, stepMs, refreshMs } = SPANS[span];
  const end = Math.floor(useNow().getTime() / stepMs) * stepMs + stepMs;
  const since = new Date(end - ms).toISOString();
  const until = new Date(end).toISOString();
  const query = useQuery<Activity>(pathOf("activity", { ...scope, since, until, step }), refreshMs);
  return { ...query, points: query.data?.items ?? NONE };
}
