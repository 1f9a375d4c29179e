import type { Subscription } from "../api/shapes.ts";
import { usePages } from "../api/use-pages.ts";
import { StateBadge } from "../components/badge.tsx";
import { Choice, Field, valuesOf } from "../components/field.tsx";
import { OrganizationLink } from "../components/id.tsx";
import { List } from "../components/list.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Empty } from "../components/states.tsx";
import type { Column } from "../components/table.tsx";
import { Ago } from "../components/time.tsx";
import { addressOf, go, recordAddress } from "../place.ts";
import { InARow } from "./subscription/streak.tsx";

/** The URL without `https://`, its path below the host. */
function Receiver({ id, url }: Subscription) {
  const [host = url, ...path] = url.replace(/^https:\/\//, "").split("/");
  return (
    <a href={recordAddress("subscriptions", id)} title={url}>
      {host}
      <span class="under clip">/{path.join("/")}</span>
    </a>
  );
}

export function subscriptionState({ active, held_at: heldAt }: Subscription): string {
  if (!active) return "auto-disabled";
  return heldAt ? "held" : "active";
}

export const SUBSCRIPTION_COLUMNS: Column<Subscription>[] = [
  { title: "Receiver", line: 1, wide: true, show: Receiver },
  {
    title: "State",
    line: 1,
    end: true,
    show: (subscription) => <StateBadge state={subscriptionState(subscription)} />,
  },
  {
    title: "Failed in a row",
    number: true,
    line: 2,
    end: true,
    show: ({ consecutive_failures: streak }) => <InARow streak={streak} />,
  },
  {
    title: "Event types",
    line: 2,
    show: ({ events }) => (
      <span class="clip quiet" title={events.join(", ")}>
        {events.join(", ")}
      </span>
    ),
  },
  { title: "Created", line: 3, show: ({ created_at }) => <Ago at={created_at} /> },
];

const OWNER: Column<Subscription> = {
  title: "Organization",
  line: 3,
  end: true,
  show: ({ organization }) => organization && <OrganizationLink slug={organization.slug} />,
};

const [RECEIVER, ...REST] = SUBSCRIPTION_COLUMNS;
const LIST_COLUMNS = [...(RECEIVER ? [RECEIVER] : []), OWNER, ...REST];

export function SubscriptionsPage({ query }: { query: Record<string, string> }) {
  const pages = usePages<Subscription>("subscriptions", query);
  return (
    <>
      <PageHead title="Subscriptions" />
      <Panel title="All subscriptions">
        <form
          key={JSON.stringify(query)}
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            go(addressOf("subscriptions", valuesOf(event.currentTarget)));
          }}
        >
          <Field
            label="Organization"
            name="organization"
            placeholder="slug or org_…"
            defaultValue={query.organization}
          />
          <Choice
            label="State"
            name="active"
            none="any"
            options={{ true: "active", false: "auto-disabled" }}
            chosen={query.active}
            onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}
          />
          <Choice
            label="Order"
            name="order"
            none="newest first"
            options={{ failing: "failing ones first" }}
            chosen={query.order}
            onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}
          />
          <div class="buttons">
            <button class="button">Search</button>
          </div>
        </form>
        <List
          name="Subscriptions"
          pages={pages}
          columns={LIST_COLUMNS}
          keyOf={({ id }) => id}
          empty={
            <Empty icon="subscriptions" title="No subscription is found">
              <p>Partners subscribe their own URLs with a key that has webhooks:manage.</p>
            </Empty>
          }
        />
      </Panel>
    </>
  );
}
