import { useMemo } from "preact/hooks";
import type { Change } from "../api/shapes.ts";
import { usePages } from "../api/use-pages.ts";
import { CopiedId, IdLink } from "../components/id.tsx";
import { List } from "../components/list.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Empty } from "../components/states.tsx";
import type { Column } from "../components/table.tsx";
import { Ago } from "../components/time.tsx";
import { ChangeFilters } from "./changes/change-filters.tsx";
import { absoluteSpan } from "./deliveries/span.ts";

const WAYS = { api: "HTTP", console: "console", command_line: "command line" };

const COLUMNS: Column<Change>[] = [
  { title: "When", line: 1, end: true, show: ({ at }) => <Ago at={at} /> },
  { title: "Who", line: 2, show: ({ operator }) => operator },
  { title: "What", line: 1, show: ({ action }) => action },
  { title: "Subject", line: 3, show: ({ subject }) => <IdLink id={subject} short /> },
  { title: "Through", show: ({ via }) => WAYS[via] },
  { title: "From", line: 2, end: true, show: ({ remote }) => remote },
  { title: "Request", show: ({ request_id: id }) => <CopiedId id={id} /> },
];

/** The changes of operators: who, what, when and from where. */
export function ChangesPage({ query }: { query: Record<string, string> }) {
  const asked = useMemo(() => absoluteSpan(query), [JSON.stringify(query)]);
  const pages = usePages<Change>("changes", asked);
  return (
    <>
      <PageHead title="Changes" />
      <Panel title="Search">
        <ChangeFilters key={JSON.stringify(query)} query={query} />
      </Panel>
      <Panel title="Changes by operators" note="by HTTP, console or command line, newest first">
        <List
          name="Changes"
          pages={pages}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          empty={
            <Empty
              icon="changes"
              title={
                Object.keys(query).length === 0
                  ? "No operator has changed anything yet"
                  : "No change matches these filters"
              }
            />
          }
        />
      </Panel>
    </>
  );
}
