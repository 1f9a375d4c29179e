import { useEffect } from "preact/hooks";
import type { Redelivery } from "../api/shapes.ts";
import { type Pages, usePages } from "../api/use-pages.ts";
import { StateBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { IdLink } from "../components/id.tsx";
import { List } from "../components/list.tsx";
import { count } from "../components/numbers.ts";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Empty } from "../components/states.tsx";
import type { Column } from "../components/table.tsx";
import { Ago } from "../components/time.tsx";

const FIRST_PAGE = 50;
const REFRESH_MS = 3_000;

const COLUMNS: Column<Redelivery>[] = [
  { title: "Job", line: 1, show: ({ id }) => <IdLink id={id} short /> },
  {
    title: "Deliveries",
    wide: true,
    show: ({ action = "redeliver", filter: { organization, subscription, state } }) => (
      <>
        {action !== "redeliver" && `${action}: `}
        {state ?? "dead_lettered, cancelled"}
        <div class="under">
          <IdLink id={subscription ?? organization ?? ""} short />
        </div>
      </>
    ),
  },
  { title: "State", line: 1, end: true, show: ({ state }) => <StateBadge state={state} /> },
  {
    title: "Done",
    number: true,
    line: 2,
    show: ({ done, total }) => `${count(done)} of ${count(total)}`,
  },
  { title: "Skipped", number: true, line: 2, end: true, show: ({ skipped }) => count(skipped) },
  { title: "Failed", number: true, show: ({ failed }) => count(failed) },
  { title: "By", show: ({ created_by: operator }) => operator },
  { title: "Created", line: 3, show: ({ created_at }) => <Ago at={created_at} /> },
  { title: "Finished", line: 3, end: true, show: ({ finished_at }) => <Ago at={finished_at} /> },
];

/** Reads the first page again while one of its jobs is under way. */
function useProgress({ items, reload }: Pages<Redelivery>): void {
  const isUnderWay =
    items !== null &&
    items.length <= FIRST_PAGE &&
    items.some(({ state }) => state === "queued" || state === "running");
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(reload, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isUnderWay, reload]);
}

export function RedeliveriesPage({ query }: { query: Record<string, string> }) {
  const pages = usePages<Redelivery>("redeliveries", { limit: String(FIRST_PAGE), ...query });
  useProgress(pages);
  return (
    <>
      <PageHead
        title="Redeliveries"
        actions={
          <Button act={pages.reload} icon="refresh">
            Refresh
          </Button>
        }
      />
      <Panel title="Redelivery jobs" note="newest first">
        <List
          name="Redeliveries"
          pages={pages}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          empty={
            <Empty icon="redeliveries" title="No job has sent anything again yet">
              <p>
                Search for <a href="#/deliveries?state=dead_lettered">dead letters</a> of an
                organization or a subscription, then send all of them again.
              </p>
            </Empty>
          }
        />
      </Panel>
    </>
  );
}
