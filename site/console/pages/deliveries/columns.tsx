import type { Delivery } from "../../api/shapes.ts";
import { StateBadge } from "../../components/badge.tsx";
import { HostLink, IdLink, OrganizationLink } from "../../components/id.tsx";
import type { Column } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";

export const DELIVERY_COLUMNS: Column<Delivery>[] = [
  { title: "Created", line: 3, end: true, show: ({ created_at }) => <Ago at={created_at} /> },
  {
    title: "State",
    line: 1,
    end: true,
    show: ({ state, due_at, held_at, redelivered_as }) => (
      <>
        <StateBadge state={state} />
        {held_at && (
          <div class="under">
            held <Ago at={held_at} />
          </div>
        )}
        {due_at && !held_at && (
          <div class="under">
            due <Ago at={due_at} />
          </div>
        )}
        {redelivered_as && <div class="under">sent again</div>}
      </>
    ),
  },
  {
    title: "Receiver",
    line: 1,
    wide: true,
    show: ({ host, organization, subscription_id: subscription }) => (
      <>
        {host === undefined ? <IdLink id={subscription} short /> : <HostLink host={host} />}
        {organization && (
          <div class="under">
            <OrganizationLink slug={organization.slug} />
          </div>
        )}
      </>
    ),
  },
  {
    title: "Event",
    line: 2,
    show: ({ event_type: type, event_id: id }) => (
      <>
        {type}
        <div class="under">
          <IdLink id={id} short />
        </div>
      </>
    ),
  },
  {
    title: "Last failure",
    line: 2,
    end: true,
    show: ({ reason }) =>
      reason ? <span class="id short">{reason}</span> : <span class="quiet">–</span>,
  },
  { title: "Attempts", number: true, show: ({ attempts }) => `${attempts}` },
  { title: "Delivery", line: 3, show: ({ id }) => <IdLink id={id} short /> },
];
