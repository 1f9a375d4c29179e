import type { Attempt } from "../../api/shapes.ts";
import { usePages } from "../../api/use-pages.ts";
import { StateBadge } from "../../components/badge.tsx";
import { IdLink } from "../../components/id.tsx";
import { List } from "../../components/list.tsx";
import { milliseconds } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { Empty } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";

const COLUMNS: Column<Attempt>[] = [
  { title: "When", line: 1, end: true, show: ({ attempted_at: at }) => <Ago at={at} /> },
  {
    title: "Reason",
    line: 1,
    show: ({ reason, detail }) => (
      <span class="id">{[reason, detail].filter(Boolean).join(" ")}</span>
    ),
  },
  { title: "HTTP status", number: true, show: ({ http_status: status }) => status || "–" },
  { title: "Took", number: true, line: 3, show: ({ duration_ms: ms }) => milliseconds(ms) },
  { title: "Attempt", number: true, line: 3, end: true, show: ({ attempt }) => attempt },
  { title: "Event", line: 2, show: ({ event_id: id }) => <IdLink id={id} short /> },
  { title: "Type", show: ({ event_type: type }) => type },
  { title: "Outcome", line: 2, end: true, show: ({ status }) => <StateBadge state={status} /> },
  { title: "Next attempt", show: ({ next_attempt_at: at }) => <Ago at={at} /> },
];

/** The failures audit, as the partner reads it. */
export function Failures({ subscription }: { subscription: string }) {
  const pages = usePages<Attempt>(`subscriptions/${subscription}/failures`, { limit: "20" });
  return (
    <Panel title="Failures audit" note="as the partner sees it, newest first">
      <List
        name="Failures"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={<Empty icon="check" title="No attempt failed" />}
      />
    </Panel>
  );
}
