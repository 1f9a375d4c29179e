import { useMemo, useState } from "preact/hooks";
import type { ActivityPoint } from "../../api/shapes.ts";
import { timesOf } from "../../charts/activity-charts.tsx";
import { Chart, type Series } from "../../charts/chart.tsx";
import { SPAN_LABELS, type SpanName } from "../../charts/spans.ts";
import { useActivity } from "../../charts/use-activity.ts";
import { count } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { Segments } from "../../components/segments.tsx";
import { Empty } from "../../components/states.tsx";

const SHOWN_MAX = 4;
const whole = (value: number | null) => (value === null ? "–" : count(value));

/** Why attempts failed, over time. */
export function Reasons({ subscription }: { subscription: string }) {
  const [span, setSpan] = useState<SpanName>("day");
  const { points } = useActivity(span, { subscription });
  const { series, times, summary } = useMemo(() => stackedReasons(points), [points]);
  return (
    <Panel
      title="Reasons of failures"
      actions={<Segments label="Span" options={SPAN_LABELS} value={span} choose={setSpan} />}
    >
      {series.length === 0 ? (
        <Empty icon="check" title="No attempt failed in this span" />
      ) : (
        <Chart title="Reasons" times={times} series={series} format={whole} summary={summary} />
      )}
    </Panel>
  );
}

/** The most frequent reasons and the rest, each standing on the ones after it. */
function stackedReasons(points: ActivityPoint[]) {
  const totals = new Map<string, number>();
  for (const { by_reason: reasons } of points) {
    for (const [reason, times] of Object.entries(reasons)) {
      totals.set(reason, (totals.get(reason) ?? 0) + times);
    }
  }
  const ordered = [...totals].sort(([, a], [, b]) => b - a);
  const named = ordered.slice(0, SHOWN_MAX).map(([reason]) => reason);
  const groups = ordered.length > SHOWN_MAX ? [...named, "other reasons"] : named;
  const valueOf = ({ by_reason: reasons, failed }: ActivityPoint, group: string) =>
    named.includes(group)
      ? (reasons[group] ?? 0)
      : failed - named.reduce((sum, reason) => sum + (reasons[reason] ?? 0), 0);
  const series = groups.map((group, index): Series => {
    const under = groups.slice(index);
    return {
      label: group,
      colour: `series-${index + 1}`,
      values: points.map((point) => under.reduce((sum, one) => sum + valueOf(point, one), 0)),
      told: points.map((point) => valueOf(point, group)),
      shape: "bars",
    };
  });
  const summary = ordered.map(([reason, times]) => `${reason}: ${count(times)}`).join(", ");
  return { series, times: timesOf(points), summary };
}
