import { useMemo } from "preact/hooks";
import type { Change, Overview, Page, Subscription } from "../api/shapes.ts";
import { useLive } from "../api/use-live.ts";
import { useQuery } from "../api/use-query.ts";
import { ActivityCharts } from "../charts/activity-charts.tsx";
import { Badge } from "../components/badge.tsx";
import { Panel } from "../components/panel.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Empty, Failure, Loading } from "../components/states.tsx";
import { FirstSteps } from "./overview/first-steps.tsx";
import { NowFigures } from "./overview/now-figures.tsx";
import { Processes } from "./overview/processes.tsx";
import { FailingSubscriptions, SlowestSubscriptions } from "./overview/ranked.tsx";
import { marksOf } from "./overview/service-marks.ts";
import { Verdict } from "./overview/verdict.tsx";

const MARKS_REFRESH_MS = 30_000;

/** While the database is away, the overview says no more than that. */
const isKnown = ({ last_24h: day }: Overview): boolean => day.published !== null;

/** Whether the service is healthy, and if not, why, since when and who is affected. */
export function OverviewPage() {
  const { data, isLive, error } = useLive<Overview>("overview/live", "overview", "overview");
  const disabled = useQuery<Page<Subscription>>(
    "subscriptions?active=false&limit=50",
    MARKS_REFRESH_MS,
  );
  const changes = useQuery<Page<Change>>("changes?limit=50", MARKS_REFRESH_MS);
  const organizations = useQuery<Page<unknown>>("organizations?limit=1");
  const processes = data?.processes;
  const marks = useMemo(
    () => marksOf(processes ?? [], disabled.data?.items ?? [], changes.data?.items ?? []),
    [JSON.stringify(processes?.map(({ id, state }) => [id, state])), disabled.data, changes.data],
  );
  const { items, unavailable_shards: away = [] } = organizations.data ?? {};
  const isEmpty = items?.length === 0 && away.length === 0;

  return (
    <>
      <PageHead
        title="Overview"
        actions={
          <Badge tone={isLive ? "good" : "warn"} icon={isLive ? "spark" : "clock"}>
            {isLive ? "live" : "connecting"}
          </Badge>
        }
      />
      {error && <Failure error={error} />}
      {data === null && !error && <Loading />}
      {data && <Verdict overview={data} />}
      {data && !isKnown(data) && (
        <Panel title="Figures">
          <Empty icon="clock" title="No figures while the database is unavailable">
            <p>This page continues as soon as the database is available again.</p>
          </Empty>
        </Panel>
      )}
      {data && isKnown(data) && (
        <>
          {isEmpty && <FirstSteps />}
          <NowFigures overview={data} />
          <ActivityCharts marks={marks} />
          <div class="columns">
            <FailingSubscriptions items={data.failing} />
            <SlowestSubscriptions items={data.slowest} />
          </div>
          <Processes items={data.processes} />
        </>
      )}
    </>
  );
}
