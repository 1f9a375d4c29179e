import { pathOf } from "../api/call.ts";
import type { OrganizationDetail, Page, Subscription } from "../api/shapes.ts";
import { useQuery } from "../api/use-query.ts";
import { ActivityCharts } from "../charts/activity-charts.tsx";
import { StateBadge } from "../components/badge.tsx";
import { CopiedId } from "../components/id.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Failure, Loading } from "../components/states.tsx";
import { addressOf } from "../place.ts";
import { SendAgainButton } from "../send-again/send-again-button.tsx";
import { useMayChange } from "../session/session.tsx";
import { CloseOrganization } from "./organization/close-organization.tsx";
import { EventTypesOf } from "./organization/event-types-of.tsx";
import { Keys } from "./organization/keys.tsx";
import { OrganizationFigures } from "./organization/organization-figures.tsx";
import { RateLimit } from "./organization/rate-limit.tsx";
import { SubscriptionsOf } from "./organization/subscriptions-of.tsx";

const REFRESH_MS = 15_000;
const SHOWN = "20";
/** The subscriptions whose event types are counted. */
const COUNTED = "200";

const PARENT = { label: "Organizations", href: "#/organizations" };

export function OrganizationPage({ id }: { id: string }) {
  const { data, error, at, reload } = useQuery<OrganizationDetail>(
    `organizations/${encodeURIComponent(id)}`,
    REFRESH_MS,
  );
  const failing = useQuery<Page<Subscription>>(
    pathOf("subscriptions", { organization: id, order: "failing", limit: SHOWN }),
    REFRESH_MS,
  );
  const active = useQuery<Page<Subscription>>(
    pathOf("subscriptions", { organization: id, active: "true", limit: COUNTED }),
    REFRESH_MS,
  );
  const mayChange = useMayChange();
  const slug = data?.slug ?? id;
  const isOpen = data !== null && !data.closed_at;

  return (
    <>
      <PageHead
        title={slug}
        parent={PARENT}
        beside={data?.closed_at ? <StateBadge state="closed" /> : null}
        under={
          data && (
            <>
              <CopiedId id={data.id} />
              {data.cell && <span> in cell {data.cell}</span>}
            </>
          )
        }
        actions={
          data && (
            <>
              <a class="button" href={addressOf("deliveries", { organization: slug })}>
                Deliveries
              </a>
              {mayChange && <SendAgainButton filter={{ organization: slug }} />}
              {mayChange && isOpen && <CloseOrganization organization={data} onClosed={reload} />}
            </>
          )
        }
      />
      {error && <Failure error={error} asOf={at} retry={reload} />}
      {data === null && !error && <Loading />}
      {data && (
        <>
          <OrganizationFigures organization={data} />
          <RateLimit organization={data} mayChange={mayChange && isOpen} onChanged={reload} />
          <SubscriptionsOf slug={slug} query={failing} total={data.subscriptions} />
          <ActivityCharts organization={slug} />
          <Keys organization={slug} mayChange={mayChange && isOpen} />
          <Panel
            title="Event types"
            note={`listed by its ${active.data?.next_cursor ? `newest ${COUNTED} ` : ""}active subscriptions`}
          >
            <EventTypesOf subscriptions={active.data?.items ?? []} />
          </Panel>
        </>
      )}
    </>
  );
}
