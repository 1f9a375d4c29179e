import { useMemo } from "preact/hooks";
import type { Organization, SubscriptionDetail } from "../api/shapes.ts";
import { useQuery } from "../api/use-query.ts";
import { ActivityCharts } from "../charts/activity-charts.tsx";
import { AttemptStrip } from "../charts/attempt-strip.tsx";
import type { Mark } from "../charts/marks.ts";
import { StateBadge } from "../components/badge.tsx";
import { Copy } from "../components/copy.tsx";
import { Facts } from "../components/facts.tsx";
import { CopiedId, OrganizationLink } from "../components/id.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Empty, Failure, Loading } from "../components/states.tsx";
import { Moment } from "../components/time.tsx";
import { addressOf } from "../place.ts";
import { SendAgainButton } from "../send-again/send-again-button.tsx";
import { WaitingJobButton } from "../send-again/waiting-job-button.tsx";
import { useMayChange } from "../session/session.tsx";
import { subscriptionState } from "./subscriptions.tsx";
import { Ceiling } from "./subscription/ceiling.tsx";
import { ConcurrencyLimit } from "./subscription/concurrency-limit.tsx";
import { DeleteSubscription } from "./subscription/delete-subscription.tsx";
import { Failures } from "./subscription/failures.tsx";
import { Hold } from "./subscription/hold.tsx";
import { Reasons } from "./subscription/reasons.tsx";
import { Release } from "./subscription/release.tsx";
import { Streak } from "./subscription/streak.tsx";
import { SubscriptionFigures } from "./subscription/subscription-figures.tsx";

const REFRESH_MS = 10_000;
const PARENT = { label: "Subscriptions", href: "#/subscriptions" };

export function SubscriptionPage({ id }: { id: string }) {
  const { data, error, at, reload } = useQuery<SubscriptionDetail>(
    `subscriptions/${encodeURIComponent(id)}`,
    REFRESH_MS,
  );
  const mayChange = useMayChange();
  const title = data ? hostOf(data.url) : id;
  return (
    <>
      <PageHead
        title={title}
        parent={PARENT}
        beside={data && <StateBadge state={subscriptionState(data)} />}
        under={data && <CopiedId id={id} />}
        actions={
          data && (
            <>
              <a class="button" href={addressOf("deliveries", { subscription: id })}>
                Deliveries
              </a>
              {mayChange && data.active && !data.held_at && (
                <Hold subscription={data} onChanged={reload} />
              )}
              {mayChange && data.active && data.held_at && (
                <Release subscription={data} onChanged={reload} />
              )}
              {mayChange && data.active && !data.held_at && (
                <WaitingJobButton action="attempt_now" filter={{ subscription: id }} />
              )}
              {mayChange && data.active && (
                <WaitingJobButton action="cancel" filter={{ subscription: id }} />
              )}
              {mayChange && <SendAgainButton filter={{ subscription: id }} />}
              {mayChange && <DeleteSubscription subscription={data} />}
            </>
          )
        }
      />
      {error && <Failure error={error} asOf={at} retry={reload} />}
      {data === null && !error && <Loading />}
      {data && <Shown subscription={data} mayChange={mayChange} onChanged={reload} />}
    </>
  );
}

function Shown({
  subscription,
  mayChange,
  onChanged,
}: {
  subscription: SubscriptionDetail;
  mayChange: boolean;
  onChanged: () => void;
}) {
  const { id, url, health, auto_disabled_at: disabledAt } = subscription;
  const marks = useMemo<Mark[]>(
    () =>
      disabledAt ? [{ at: new Date(disabledAt), kind: "disabled", label: "auto-disabled" }] : [],
    [disabledAt],
  );
  return (
    <>
      <Panel title="Subscription">
        <Facts
          of={{
            URL: (
              <span class="with-copy">
                {url} <Copy text={url} what="the URL" />
              </span>
            ),
            Organization: <OrganizationOf id={subscription.organization_id} />,
            "Event types": subscription.events.join(", "),
            Created: <Moment at={subscription.created_at} />,
            "Auto-disabled": disabledAt && <Moment at={disabledAt} />,
            "Held since": subscription.held_at && <Moment at={subscription.held_at} />,
            "Release by": subscription.release_by && <Moment at={subscription.release_by} />,
            "Concurrency limit": <ConcurrencyLimit id={id} />,
          }}
        />
        <Streak subscription={subscription} />
      </Panel>
      <SubscriptionFigures health={health} />
      <Panel title="Last attempts" note="the oldest on the left; failures are striped">
        {health.recent.length === 0 ? (
          <Empty icon="clock" title="Nothing was attempted yet" />
        ) : (
          <AttemptStrip attempts={health.recent} />
        )}
      </Panel>
      <ActivityCharts subscription={id} marks={marks} />
      <Reasons subscription={id} />
      <Ceiling subscription={subscription} mayChange={mayChange} onChanged={onChanged} />
      <Failures subscription={id} />
    </>
  );
}

function OrganizationOf({ id }: { id: string }) {
  const { data } = useQuery<Organization>(`organizations/${id}`);
  return data ? <OrganizationLink slug={data.slug} /> : <span class="id">{id}</span>;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}
