import { useMemo } from "preact/hooks";
import type { Delivery } from "../api/shapes.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../components/button.tsx";
import { Copy } from "../components/copy.tsx";
import { List } from "../components/list.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Empty } from "../components/states.tsx";
import { addressOf } from "../place.ts";
import { SendAgainButton } from "../send-again/send-again-button.tsx";
import { WaitingJobButton } from "../send-again/waiting-job-button.tsx";
import { useMayChange } from "../session/session.tsx";
import { DELIVERY_COLUMNS } from "./deliveries/columns.tsx";
import { Counts } from "./deliveries/counts.tsx";
import { Filters } from "./deliveries/filters.tsx";
import { SelectionActions, useSelection } from "./deliveries/selection.tsx";
import { absoluteSpan } from "./deliveries/span.ts";

const ACTED_ON = ["waiting", "dead_lettered", "cancelled", "delivered"];

function whyNotActable({
  state = "",
  organization,
  subscription,
  host,
}: Record<string, string>): string | null {
  if (!ACTED_ON.includes(state) || !(organization ?? subscription)) {
    return "To act on all that match, choose an organization or a subscription, and a state.";
  }
  if (host !== undefined && subscription === undefined) {
    return "A job has no filter for hosts. To act on the deliveries of a host, filter by each subscription with this host.";
  }
  return null;
}

/** Deliveries, searched by everything. The filters are in the address, so that it can be sent to a colleague. */
export function DeliveriesPage({ query }: { query: Record<string, string> }) {
  // A span like "last hour" is read when the page opens or is searched again, so that pages of the list agree.
  const asked = useMemo(() => absoluteSpan(query), [JSON.stringify(query)]);
  const pages = usePages<Delivery>("deliveries", asked);
  const mayChange = useMayChange();
  const { ids, column, clear } = useSelection();
  const whyNot = whyNotActable(query);
  const address = `${location.origin}${location.pathname}${addressOf("deliveries", asked)}`;

  return (
    <>
      <PageHead
        title="Deliveries"
        actions={
          <>
            <Copy text={address} what="a link to this search" label="Copy link" />
            <Button act={pages.reload} icon="refresh">
              Refresh
            </Button>
            {mayChange && whyNot === null && <Jobs filter={asked} />}
          </>
        }
      />
      <Panel title="Search">
        <Filters key={JSON.stringify(query)} query={query} />
        {mayChange && whyNot && <p class="quiet">{whyNot}</p>}
      </Panel>
      <Panel title="Found" note="newest first">
        <Counts asked={asked} query={query} />
        {mayChange && (
          <SelectionActions
            chosen={pages.items?.filter(({ id }) => ids.has(id)) ?? []}
            onDone={() => {
              clear();
              pages.reload();
            }}
          />
        )}
        <List
          name="Deliveries"
          pages={pages}
          columns={mayChange ? [...DELIVERY_COLUMNS, column] : DELIVERY_COLUMNS}
          keyOf={({ id }) => id}
          empty={
            <Empty icon="search" title="Nothing found">
              <p>No delivery matches these filters. Remove some, or choose a longer span.</p>
            </Empty>
          }
        />
      </Panel>
    </>
  );
}

/** What a job can do with all that match. */
function Jobs({ filter }: { filter: Record<string, string> }) {
  if (filter.state !== "waiting") return <SendAgainButton filter={filter} kind="main" />;
  return (
    <>
      <WaitingJobButton action="attempt_now" filter={filter} />
      <WaitingJobButton action="cancel" filter={filter} />
    </>
  );
}
