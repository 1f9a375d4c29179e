import type { Overview, Page } from "../api/shapes.ts";
import { useLive } from "../api/use-live.ts";
import { useQuery } from "../api/use-query.ts";
import { ServiceCharts } from "../charts/activity-charts.tsx";
import { Badge } from "../components/badge.tsx";
import { Panel } from "../components/panel.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Empty, Failure, Loading } from "../components/states.tsx";
import { Bridges } from "./overview/bridges.tsx";
import { FirstSteps } from "./overview/first-steps.tsx";
import { Held } from "./overview/held.tsx";
import { NearestToLimit } from "./overview/near-limit.tsx";
import { NowFigures } from "./overview/now-figures.tsx";
import { Processes } from "./overview/processes.tsx";
import { FailingSubscriptions, SlowestSubscriptions } from "./overview/ranked.tsx";
import { Verdict } from "./overview/verdict.tsx";

/** While the database is away, the overview says no more than that. */
const isKnown = ({ last_24h: day }: Overview): boolean => day.published !== null;

/** Whether the service is healthy, and if not, why, since when and who is affected. */
export function OverviewPage() {
  const { data, isLive, error } = useLive<Overview>("overview/live", "overview", "overview");
  const organizations = useQuery<Page<unknown>>("organizations?limit=1");
  const { items, unreachable: away = [] } = organizations.data ?? {};
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
            <p>
              The state of processes and subscriptions is unknown, too. This page continues when the
              database is available again.
            </p>
          </Empty>
        </Panel>
      )}
      {data && isKnown(data) && (
        <>
          {isEmpty && <FirstSteps />}
          <Held items={data.held ?? []} />
          <NowFigures overview={data} />
          <ServiceCharts />
          <div class="columns three">
            <FailingSubscriptions items={data.failing} />
            <SlowestSubscriptions items={data.slowest} />
            <NearestToLimit items={data.near_limit ?? []} />
          </div>
          <Bridges items={data.bridges ?? []} />
          <Processes items={data.processes} />
        </>
      )}
    </>
  );
}
