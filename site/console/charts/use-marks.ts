import { useMemo } from "preact/hooks";
import { pathOf } from "../api/call.ts";
import type { Marks } from "../api/shapes.ts";
import { useQuery } from "../api/use-query.ts";
import { useNow } from "../components/use-now.ts";
import type { Mark } from "./marks.ts";
import { SPANS, type SpanName } from "./spans.ts";

const REFRESH_MS = 30_000;
const HOUR_MS = 3_600_000;

/** The changes of the service within a span, and the cells whose changes are missing. */
export function useMarks(span: SpanName): { marks: Mark[]; away: string[] } {
  const hour = Math.floor(useNow().getTime() / HOUR_MS) * HOUR_MS;
  const since = new Date(hour - SPANS[span].ms).toISOString();
  const { data } = useQuery<Marks>(pathOf("marks", { since }), REFRESH_MS);
  const marks = useMemo(
    () => (data?.items ?? []).map(({ at, ...mark }) => ({ ...mark, at: new Date(at) })),
    [data],
  );
  return { marks, away: data?.unreachable ?? [] };
}
