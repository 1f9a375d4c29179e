import type { Health } from "../../api/shapes.ts";
import { Figures } from "../../components/figures.tsx";
import { count, countOf, milliseconds, percent } from "../../components/numbers.ts";
import { Ago } from "../../components/time.tsx";

export function SubscriptionFigures({ health }: { health: Health }) {
  const { waiting, attempt_ms: times } = health;
  return (
    <Figures
      of={[
        { label: "Succeeded", value: percent(health.success_share), under: "attempts, 24 h" },
        { label: "Response time p50", value: milliseconds(times.p50), under: "24 h" },
        { label: "Response time p99", value: milliseconds(times.p99), under: "24 h" },
        { label: "Waiting now", value: countOf(waiting.due, waiting.estimated), under: "due" },
        {
          label: "Scheduled later",
          value: countOf(waiting.scheduled, waiting.estimated),
          under: "after a failed attempt",
        },
        waiting.held
          ? { label: "Held", value: count(waiting.held), under: "until the release" }
          : { label: "Next due", value: <Ago at={health.next_due_at} /> },
      ]}
    />
  );
}
