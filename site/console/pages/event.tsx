import { useState } from "preact/hooks";
import { call } from "../api/call.ts";
import type { Delivery, EventDetail } from "../api/shapes.ts";
import { usePages } from "../api/use-pages.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../components/button.tsx";
import { useConfirm } from "../components/confirm.tsx";
import { Copy } from "../components/copy.tsx";
import { Facts } from "../components/facts.tsx";
import { CopiedId, OrganizationLink } from "../components/id.tsx";
import { List } from "../components/list.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Empty, Failure, Loading } from "../components/states.tsx";
import { Moment } from "../components/time.tsx";
import { useReport } from "../components/toasts.tsx";
import { addressOf } from "../place.ts";
import { useMayChange } from "../session/session.tsx";
import { DELIVERY_COLUMNS } from "./deliveries/columns.tsx";

const COLUMNS = DELIVERY_COLUMNS.filter(({ title }) => title !== "Event");
const PARENT = { label: "Deliveries", href: "#/deliveries" };

/** One event: where it went, and its payload for those who ask for it. */
export function EventPage({ id }: { id: string }) {
  const pages = usePages<Delivery>("deliveries", { event: id });
  const path = `events/${encodeURIComponent(id)}`;
  const { data: event, error, reload } = useQuery<EventDetail>(`${path}?data=false`);
  const [seen, setSeen] = useState<EventDetail | null>(null);
  const mayChange = useMayChange();
  const read = async () => setSeen(await call<EventDetail>("GET", path));

  return (
    <>
      <PageHead
        title={id}
        parent={PARENT}
        beside={<Copy text={id} what="the id" />}
        actions={
          <>
            <Button act={pages.reload} icon="refresh">
              Refresh
            </Button>
            {mayChange && event && <ErasePayload id={id} onErased={seen ? read : pages.reload} />}
          </>
        }
      />
      {error && <Failure error={error} retry={reload} />}
      {event === null && !error && <Loading />}
      {event && (
        <Panel title="Event">
          <Facts
            of={{
              Type: <a href={addressOf("deliveries", { event: event.type })}>{event.type}</a>,
              Organization: <OrganizationLink slug={event.organization} />,
              Published: event.published_at && <Moment at={event.published_at} />,
              Occurred: <Moment at={event.occurred_at} />,
              Request: event.request_id && <CopiedId id={event.request_id} />,
            }}
          />
        </Panel>
      )}
      <Panel title="Deliveries" note="including redeliveries">
        <List
          name="Deliveries"
          pages={pages}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          empty={
            <Empty icon="deliveries" title="No delivery">
              {event && (
                <p>
                  No active subscription of {event.organization} listed {event.type} when the event
                  was published.
                </p>
              )}
            </Empty>
          }
        />
      </Panel>
      <Panel
        title="Payload"
        note="a partner's data: look only when you need to"
        actions={seen && <Copy text={json(seen.data)} what="the payload" label="Copy" />}
      >
        {seen ? (
          // It can be scrolled, so it can be focused.
          <pre class="payload" tabIndex={0} aria-label="Payload">
            {json(seen.data)}
          </pre>
        ) : (
          <div class="buttons">
            <Button act={read} icon="lock">
              Show the payload
            </Button>
          </div>
        )}
      </Panel>
    </>
  );
}

const json = (data: unknown): string => JSON.stringify(data, null, 2);

function ErasePayload({ id, onErased }: { id: string; onErased: () => unknown }) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const erase = async () => {
    const isAgreed = await confirmed({
      title: "Erase the payload of this event?",
      effect:
        "The data of the event becomes {}, and its waiting deliveries are cancelled. Receivers keep the data that they got. This cannot be undone.",
      subject: id,
      yes: "Erase payload",
      isDangerous: true,
    });
    if (!isAgreed) return;
    await call("DELETE", `events/${id}/payload`);
    await onErased();
    say("The payload is erased.");
  };
  return (
    <Button act={erase} kind="danger">
      Erase payload…
    </Button>
  );
}
