import type { OrganizationDetail } from "../../api/shapes.ts";
import { useActivity } from "../../charts/use-activity.ts";
import { Figures } from "../../components/figures.tsx";
import { count, countOf, milliseconds, percent } from "../../components/numbers.ts";
import { Ago } from "../../components/time.tsx";

export function OrganizationFigures({ organization }: { organization: OrganizationDetail }) {
  const { health, rate_limit_per_minute: limit, slug } = organization;
  const { points } = useActivity("hour", { organization: slug });
  const peak = Math.max(
    0,
    ...points.map(({ requests = 0, rate_limited: refused = 0 }) => requests - refused),
  );
  const refused = points.reduce((sum, { rate_limited: one = 0 }) => sum + one, 0);
  const { waiting } = health;
  return (
    <Figures
      of={[
        {
          label: "Busiest minute",
          value: count(peak),
          unit: `of ${count(limit)}`,
          under: "requests, last hour",
        },
        { label: "Refused with 429", value: count(refused), under: "requests, last hour" },
        { label: "Succeeded", value: percent(health.success_share), under: "attempts, 24 h" },
        {
          label: "Response time p50",
          value: milliseconds(health.attempt_ms.p50),
          under: `p99 ${milliseconds(health.attempt_ms.p99)}`,
        },
        {
          label: "Waiting now",
          value: countOf(waiting.due, waiting.estimated),
          under: `${countOf(waiting.scheduled, waiting.estimated)} scheduled later`,
        },
        { label: "Next due", value: <Ago at={health.next_due_at} /> },
      ]}
    />
  );
}
