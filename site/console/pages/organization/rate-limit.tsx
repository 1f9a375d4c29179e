import { useMemo, useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import type { Organization } from "../../api/shapes.ts";
import { timesOf } from "../../charts/activity-charts.tsx";
import { Chart } from "../../charts/chart.tsx";
import { SPAN_LABELS, SPANS, type SpanName } from "../../charts/spans.ts";
import { useActivity } from "../../charts/use-activity.ts";
import { useAction } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { Field, valuesOf } from "../../components/field.tsx";
import { count, plural, rate } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { Segments } from "../../components/segments.tsx";
import { Failure } from "../../components/states.tsx";
import { useReport } from "../../components/toasts.tsx";

const MINUTE_MS = 60_000;
const perMinute = (value: number | null) => (value === null ? "–" : rate(value));

/** How close an organization comes to its limit, and the limit itself. */
export function RateLimit({
  organization,
  mayChange,
  onChanged,
}: {
  organization: Organization;
  mayChange: boolean;
  onChanged: () => void;
}) {
  const { slug, rate_limit_per_minute: limit } = organization;
  const [span, setSpan] = useState<SpanName>("hour");
  const { points, error } = useActivity(span, { organization: slug });
  const minutes = SPANS[span].stepMs / MINUTE_MS;
  const { times, series, summary } = useMemo(() => {
    const all = points.map(({ requests = 0 }) => requests / minutes);
    const refused = points.map(({ rate_limited: one = 0 }) => one / minutes);
    const passed = all.map((value, index) => value - (refused[index] ?? 0));
    const peak = Math.max(0, ...passed);
    return {
      times: timesOf(points),
      series: [
        {
          label: "refused with 429",
          colour: "bad-fill",
          values: all,
          told: refused,
          shape: "bars" as const,
        },
        { label: "passed", colour: "accent", values: passed, shape: "bars" as const },
        {
          label: "limit",
          colour: "warn",
          values: points.map(() => limit),
          shape: "dashed" as const,
        },
      ],
      summary: `${perMinute(peak)} requests passed in the busiest minute (limit ${count(limit)}); at most ${perMinute(Math.max(0, ...refused))} were refused in one minute`,
    };
  }, [points, limit, minutes]);

  return (
    <Panel
      title="Requests a minute"
      note={`all keys share the limit of ${count(limit)}`}
      actions={<Segments label="Span" options={SPAN_LABELS} value={span} choose={setSpan} />}
    >
      {error && <Failure error={error} />}
      <Chart
        title="Requests a minute"
        times={times}
        series={series}
        format={perMinute}
        summary={summary}
      />
      {mayChange && <LimitForm organization={organization} onChanged={onChanged} />}
    </Panel>
  );
}

function LimitForm({
  organization: { id, slug, rate_limit_per_minute: before },
  onChanged,
}: {
  organization: Organization;
  onChanged: () => void;
}) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const [change, isChanging] = useAction(async (form: HTMLFormElement) => {
    const wanted = Number(valuesOf(form).limit);
    const isAgreed = await confirmed({
      title: `Change the limit of ${slug}?`,
      effect: `All its keys together may make ${plural(wanted, "request")} a minute. Before, it was ${count(before)}. The new limit applies from the next request on.`,
      yes: "Change limit",
    });
    if (!isAgreed) return;
    await call("PATCH", `organizations/${id}`, { rate_limit_per_minute: wanted });
    onChanged();
    say(`${slug} may make ${plural(wanted, "request")} a minute.`);
  });
  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        change(event.currentTarget);
      }}
    >
      <Field
        label={`Requests a minute of ${slug}`}
        name="limit"
        type="number"
        min={1}
        max={1_000_000}
        required
        defaultValue={String(before)}
      />
      <button class="button" aria-busy={isChanging}>
        Set limit
      </button>
    </form>
  );
}
