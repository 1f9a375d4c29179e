import type { Overview } from "../../api/shapes.ts";
import { Figures } from "../../components/figures.tsx";
import { count, countOf, milliseconds, percent, rate } from "../../components/numbers.ts";
import { spanInWords } from "../../components/time-words.ts";
import { addressOf } from "../../place.ts";

const known = <T,>(value: T | null, show: (value: T) => string): string =>
  value === null ? "–" : show(value);

export function NowFigures({ overview: { now, last_24h: day } }: { overview: Overview }) {
  const { waiting, attempt_ms: times } = now;
  const shown = (value: number | null) => known(value, (one) => countOf(one, waiting.estimated));
  return (
    <Figures
      of={[
        {
          label: "Deliveries a second",
          value: known(now.deliveries_per_second, rate),
          under: `${known(now.attempts_under_way, count)} attempts in flight`,
        },
        {
          label: "Succeeded",
          value: percent(now.success_share),
          under: "attempts, 1–2 min",
        },
        {
          label: "Response time p50",
          value: milliseconds(times.p50),
          under: `p99 ${milliseconds(times.p99)}`,
        },
        {
          label: "Waiting now",
          value: shown(waiting.due),
          under: `oldest due ${known(now.oldest_due_seconds, spanInWords)}${waiting.held ? `, ${count(waiting.held)} held` : ""}`,
        },
        {
          label: "Scheduled later",
          value: shown(waiting.scheduled),
          under: <a href={addressOf("deliveries", { state: "waiting" })}>show what waits</a>,
        },
        {
          label: "Dead-lettered, 24 h",
          value: known(day.dead_lettered, count),
          under: (
            <a href={addressOf("deliveries", { state: "dead_lettered", span: "24h" })}>
              show dead letters
            </a>
          ),
        },
      ]}
    />
  );
}
