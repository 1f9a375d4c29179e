import type { Delivery } from "../../api/shapes.ts";
import { Badge, StateBadge } from "../../components/badge.tsx";
import { HostLink, IdLink, OrganizationLink } from "../../components/id.tsx";
import type { Column } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";

export const DELIVERY_COLUMNS: Column<Delivery>[] = [
  { title: "Created", line: 3, end: true, show: ({ created_at }) => <Ago at={created_at} /> },
  {
    title: "State",
    line: 1,
    end: true,
    show: ({ state, redelivered_as }) => (
      <>
        <StateBadge state={state} />{" "}
        {redelivered_as && (
          <Badge tone="info" icon="redeliveries">
            sent again
          </Badge>
        )}
      </>
    ),
  },
  { title: "Receiver", line: 1, show: ({ host }) => <HostLink host={host} /> },
  {
    title: "Organization",
    line: 3,
    show: ({ organization }) => <OrganizationLink slug={organization.slug} />,
  },
  { title: "Type", line: 2, show: ({ event_type }) => event_type },
  {
    title: "Last failure",
    line: 2,
    end: true,
    show: ({ reason }) =>
      reason ? <span class="id">{reason}</span> : <span class="quiet">–</span>,
  },
  { title: "Attempts", number: true, show: ({ attempts }) => `${attempts}` },
  { title: "Due", show: ({ due_at }) => <Ago at={due_at} /> },
  { title: "Delivery", show: ({ id }) => <IdLink id={id} short /> },
  { title: "Event", show: ({ event_id }) => <IdLink id={event_id} short /> },
];
