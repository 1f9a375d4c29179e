import type { DeliveryDetail } from "../api/shapes.ts";
import { useQuery } from "../api/use-query.ts";
import { StateBadge } from "../components/badge.tsx";
import { Copy } from "../components/copy.tsx";
import { Facts } from "../components/facts.tsx";
import { CopiedId, HostLink, IdLink, OrganizationLink } from "../components/id.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Failure, Loading } from "../components/states.tsx";
import { Moment } from "../components/time.tsx";
import { useMayChange } from "../session/session.tsx";
import { AttemptNow } from "./delivery/attempt-now.tsx";
import { Redeliver } from "./delivery/redeliver.tsx";
import { Timeline } from "./delivery/timeline.tsx";

const WAITING_REFRESH_MS = 3_000;
const PARENT = { label: "Deliveries", href: "#/deliveries" };

/** One delivery from its publication to its end. */
export function DeliveryPage({ id }: { id: string }) {
  const { data, error, at, reload } = useQuery<DeliveryDetail>(
    `deliveries/${encodeURIComponent(id)}`,
    WAITING_REFRESH_MS,
  );
  const mayChange = useMayChange();
  const isOver = data?.state === "dead_lettered" || data?.state === "cancelled";
  return (
    <>
      <PageHead
        title={id}
        parent={PARENT}
        beside={
          data && (
            <>
              <Copy text={id} what="the id" />
              <StateBadge state={data.state} />
            </>
          )
        }
      />
      {error && <Failure error={error} asOf={at} retry={reload} />}
      {data === null && !error && <Loading />}
      {data && (
        <div class="columns">
          <Panel title="What happened">
            <Timeline delivery={data} />
          </Panel>
          <div class="stack">
            <Panel title="Delivery">
              <DeliveryFacts delivery={data} />
            </Panel>
            {mayChange && data.state === "waiting" && (
              <AttemptNow delivery={data} onChanged={reload} />
            )}
            {mayChange && isOver && <Redeliver delivery={data} />}
          </div>
        </div>
      )}
    </>
  );
}

function DeliveryFacts({ delivery }: { delivery: DeliveryDetail }) {
  const { subscription } = delivery;
  return (
    <Facts
      of={{
        Event: <IdLink id={delivery.event_id} />,
        Type: delivery.event_type,
        Organization: <OrganizationLink slug={subscription.organization_slug} />,
        Subscription: <IdLink id={delivery.subscription_id} />,
        Receiver: delivery.host && <HostLink host={delivery.host} />,
        URL: subscription.url, // Not a link, because partners choose it.
        "Auto-disabled": subscription.auto_disabled_at && (
          <Moment at={subscription.auto_disabled_at} />
        ),
        "Held since": delivery.held_at && <Moment at={delivery.held_at} />,
        "Cancelled because": delivery.cancel_reason,
        Deleted: subscription.deleted_at && <Moment at={subscription.deleted_at} />,
        Request: delivery.request_id && <CopiedId id={delivery.request_id} />,
        "Redelivery of": delivery.redelivery_of && <IdLink id={delivery.redelivery_of} />,
      }}
    />
  );
}
