import { useMemo, useState } from "preact/hooks";
import type { ActivityPoint } from "../api/shapes.ts";
import { count, milliseconds, plural } from "../components/numbers.ts";
import { Panel } from "../components/panel.tsx";
import { Segments } from "../components/segments.tsx";
import { Failure, Missing, noAnswerOf } from "../components/states.tsx";
import { Chart } from "./chart.tsx";
import { MarkList } from "./mark-list.tsx";
import type { Mark } from "./marks.ts";
import { SPAN_LABELS, SPANS, type SpanName } from "./spans.ts";
import { useActivity } from "./use-activity.ts";
import { useMarks } from "./use-marks.ts";

const whole = (value: number | null) => (value === null ? "–" : count(value));

const PER: Record<SpanName, string> = { hour: "minute", day: "5 minutes", week: "hour" };

/** The charts of the whole service, with what changed it. */
export function ServiceCharts() {
  const [span, setSpan] = useState<SpanName>("hour");
  const { marks, away } = useMarks(span);
  return (
    <>
      {away.length > 0 && (
        <p class="quiet">{noAnswerOf(away)}: changes made there are not marked on the charts.</p>
      )}
      <Charts span={span} setSpan={setSpan} marks={marks} />
    </>
  );
}

/** Attempts and times of one organization or subscription over the last hour, day or week. */
export function ActivityCharts({
  organization,
  subscription,
  marks = [],
}: {
  organization?: string;
  subscription?: string;
  marks?: Mark[];
}) {
  const [span, setSpan] = useState<SpanName>("hour");
  return <Charts {...{ span, setSpan, organization, subscription, marks }} />;
}

function Charts({
  span,
  setSpan,
  organization,
  subscription,
  marks,
}: {
  span: SpanName;
  setSpan: (span: SpanName) => void;
  organization?: string | undefined;
  subscription?: string | undefined;
  marks: Mark[];
}) {
  const isService = organization === undefined && subscription === undefined;
  const scope = {
    ...(organization === undefined ? {} : { organization }),
    ...(subscription === undefined ? {} : { subscription }),
  };
  const { points, data, error, at, reload } = useActivity(span, scope);
  const { unreachable: away = [] } = data ?? {};
  const from = Date.now() - SPANS[span].ms;
  const shown = useMemo(
    () => marks.filter((mark) => mark.at.getTime() >= from),
    [marks, Math.floor(from / 60_000)],
  );

  return (
    <>
      {error && <Failure error={error} asOf={at} />}
      {away.length > 0 && <Missing cells={away} retry={reload} />}
      <div class={isService ? "charts three" : "charts"}>
        <Panel
          title="Attempts"
          note={`for each ${PER[span]}`}
          actions={<Segments label="Span" options={SPAN_LABELS} value={span} choose={setSpan} />}
        >
          <AttemptsChart points={points} marks={shown} />
          <MarkList marks={shown} />
        </Panel>
        <Panel
          title="Response time of receivers"
          note="half of the attempts were faster than p50, 99 of 100 faster than p99"
        >
          <TimesChart points={points} member="attempt_ms" marks={shown} />
        </Panel>
        {isService && (
          <Panel
            title="From published to delivered"
            note="half of the deliveries were faster than p50, 99 of 100 faster than p99"
          >
            <TimesChart points={points} member="end_to_end_ms" marks={shown} />
          </Panel>
        )}
      </div>
    </>
  );
}

export function AttemptsChart({ points, marks = [] }: { points: ActivityPoint[]; marks?: Mark[] }) {
  const { times, series, summary } = useMemo(() => {
    const succeeded = points.map((point) => point.succeeded);
    const failed = points.map((point) => point.failed);
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    return {
      times: timesOf(points),
      series: [
        // Failures stand on successes: the bar of both is painted first.
        {
          label: "failed",
          colour: "bad-fill",
          values: points.map(({ attempts }) => attempts),
          told: failed,
          shape: "bars" as const,
        },
        { label: "succeeded", colour: "good-fill", values: succeeded, shape: "bars" as const },
      ],
      summary: `${plural(sum(succeeded), "attempt")} succeeded, ${count(sum(failed))} failed`,
    };
  }, [points]);
  return (
    <Chart
      title="Attempts"
      times={times}
      series={series}
      format={whole}
      marks={marks}
      summary={summary}
    />
  );
}

export function TimesChart({
  points,
  member,
  marks = [],
}: {
  points: ActivityPoint[];
  member: "attempt_ms" | "end_to_end_ms";
  marks?: Mark[];
}) {
  const { times, series, summary } = useMemo(() => {
    const p50 = points.map((point) => point[member].p50);
    const p99 = points.map((point) => point[member].p99);
    const last = points.findLast((point) => point[member].p99 !== null)?.[member];
    return {
      times: timesOf(points),
      series: [
        { label: "p50", colour: "accent", values: p50, shape: "line" as const },
        { label: "p99", colour: "warn", values: p99, shape: "dashed" as const },
      ],
      summary: last
        ? `latest p50 ${milliseconds(last.p50)}, p99 ${milliseconds(last.p99)}`
        : "no attempts in this span",
    };
  }, [points, member]);
  return (
    <Chart
      title="Times"
      times={times}
      series={series}
      format={milliseconds}
      marks={marks}
      summary={summary}
    />
  );
}

export const timesOf = (points: ActivityPoint[]): number[] =>
  points.map(({ at }) => Date.parse(at) / 1000);
