import type { Subscription } from "../../../src/client/partner-client.ts";
import { Badge } from "../../console/components/badge.tsx";
import { Icon } from "../../console/components/icon.tsx";
import { PageHead } from "../../console/components/page-head.tsx";
import { Empty, Failure, Loading } from "../../console/components/states.tsx";
import { type Column, Table } from "../../console/components/table.tsx";
import { Ago, Moment } from "../../console/components/time.tsx";
import { recordAddress } from "../../console/place.ts";
import { answerOf } from "../answer.ts";
import { facts } from "../service.ts";
import { useSession } from "../session.tsx";
import { HOPE, useCall } from "../use-call.ts";

export function SubscriptionsPage() {
  const { client } = useSession();
  const { data, error, reload } = useCall(() => answerOf(client.listSubscriptions()));
  return (
    <>
      <PageHead title="Subscriptions" actions={data?.length ? <NewLink /> : undefined} />
      {error && <Failure error={error} retry={reload} hope={HOPE} />}
      {data === null && error === null && <Loading />}
      {data?.length === 0 && <First />}
      {data !== null && data.length > 0 && (
        <Table name="Subscriptions" columns={COLUMNS} items={data} keyOf={({ id }) => id} />
      )}
    </>
  );
}

const NewLink = () => (
  <a class="button main" href="#/new">
    New subscription
  </a>
);

function First() {
  return (
    <Empty icon="subscriptions" title="No subscription yet" isFirst>
      <ol class="steps-ahead">
        <li>Name the https URL of your receiver, and the events that it wants.</li>
        <li>Copy the secret, which this page alone can show, and start the receiver with it.</li>
        <li>Send a test event, and watch it arrive.</li>
      </ol>
      <NewLink />
    </Empty>
  );
}

const COLUMNS: Column<Subscription>[] = [
  {
    title: "URL",
    wide: true,
    line: 1,
    show: ({ id, url }) => <a href={recordAddress("subscriptions", id)}>{url}</a>,
  },
  { title: "State", line: 2, show: (subscription) => <State of={subscription} /> },
  { title: "Events", line: 3, show: ({ events }) => events.join(", ") },
  { title: "Created", line: 2, end: true, show: ({ created_at: at }) => <Ago at={at} /> },
];

/** Active, failing or disabled, at a glance. */
export function State({ of }: { of: Subscription }) {
  const { active, auto_disabled_at: disabledAt, consecutive_failures: failures } = of;
  if (!active) {
    return (
      <Badge tone="bad" icon="ban">
        disabled {disabledAt && <Ago at={disabledAt} />}
      </Badge>
    );
  }
  if (failures === 0) {
    return (
      <Badge tone="good" icon="check">
        active
      </Badge>
    );
  }
  return (
    <Badge tone="warn" icon="warning">
      failing, {failures} of {facts.disableAfter}
    </Badge>
  );
}

/** What a disabled or failing subscription means, and what to do. */
export function StateAdvice({ of }: { of: Subscription }) {
  const { active, auto_disabled_at: disabledAt, consecutive_failures: failures } = of;
  if (active && failures === 0) return null;
  return (
    <div class={active ? "alert warn" : "alert"} role="status">
      <Icon name="warning" />
      <p>
        {active
          ? `${failures === 1 ? "1 attempt" : `${failures} attempts in a row`} failed. After ${facts.disableAfter} the subscription is disabled.`
          : `${facts.disableAfter} attempts in a row failed, so deliveries have stopped. Repair the receiver, create a new subscription for the same URL, and delete this one.`}
        {disabledAt && (
          <>
            {" "}
            Disabled <Moment at={disabledAt} />.
          </>
        )}
      </p>
    </div>
  );
}
