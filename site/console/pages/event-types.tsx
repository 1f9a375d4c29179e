import type { ListedEventType } from "../api/shapes.ts";
import { usePages } from "../api/use-pages.ts";
import { List } from "../components/list.tsx";
import { count } from "../components/numbers.ts";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Empty } from "../components/states.tsx";
import type { Column } from "../components/table.tsx";
import { Ago } from "../components/time.tsx";
import { addressOf } from "../place.ts";

const COLUMNS: Column<ListedEventType>[] = [
  {
    title: "Event type",
    line: 1,
    show: ({ type }) => (
      <a class="id" href={addressOf("deliveries", { event: type })}>
        {type}
      </a>
    ),
  },
  { title: "Meaning", line: 2, show: ({ summary }) => <span class="clip">{summary}</span> },
  {
    title: "Active subscriptions",
    number: true,
    line: 1,
    end: true,
    show: ({ subscriptions }) => count(subscriptions),
  },
  {
    title: "Last published",
    line: 3,
    show: ({ last_published_at: at }) => (at ? <Ago at={at} /> : <span class="quiet">never</span>),
  },
];

export function EventTypesPage() {
  const pages = usePages<ListedEventType>("event-types", {});
  return (
    <>
      <PageHead title="Event types" />
      <Panel
        title="Known types"
        note={
          <>
            from the folder in <code>EVENT_TYPES</code>
          </>
        }
      >
        <List
          name="Event types"
          pages={pages}
          columns={COLUMNS}
          keyOf={({ type }) => type}
          empty={<Empty icon="types" title="No event type is known" />}
        />
      </Panel>
    </>
  );
}
