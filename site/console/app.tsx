import type { ComponentType } from "preact";
import { Confirmations } from "./components/confirm.tsx";
import { Failure, Loading } from "./components/states.tsx";
import { Toasts } from "./components/toasts.tsx";
import { Frame } from "./frame.tsx";
import { ChangesPage } from "./pages/changes.tsx";
import { DeliveriesPage } from "./pages/deliveries.tsx";
import { DeliveryPage } from "./pages/delivery.tsx";
import { EventPage } from "./pages/event.tsx";
import { EventTypesPage } from "./pages/event-types.tsx";
import { OrganizationPage } from "./pages/organization.tsx";
import { OrganizationsPage } from "./pages/organizations.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { RedeliveriesPage } from "./pages/redeliveries.tsx";
import { RedeliveryPage } from "./pages/redelivery.tsx";
import { SubscriptionPage } from "./pages/subscription.tsx";
import { SubscriptionsPage } from "./pages/subscriptions.tsx";
import { usePlace } from "./place.ts";
import { SessionGate } from "./session/session.tsx";
import { SignIn } from "./session/sign-in.tsx";

type Query = Record<string, string>;

/** Pages that list something, with their filters. */
const LISTS: Record<string, ComponentType<{ query: Query }>> = {
  overview: OverviewPage,
  deliveries: DeliveriesPage,
  redeliveries: RedeliveriesPage,
  "event-types": EventTypesPage,
  organizations: OrganizationsPage,
  subscriptions: SubscriptionsPage,
  changes: ChangesPage,
};

/** Pages of one record. */
const RECORDS: Record<string, ComponentType<{ id: string }>> = {
  deliveries: DeliveryPage,
  events: EventPage,
  redeliveries: RedeliveryPage,
  organizations: OrganizationPage,
  subscriptions: SubscriptionPage,
};

export function App() {
  return (
    <Toasts>
      <SessionGate
        door={(why, enter) => <SignIn key={why} why={why} enter={enter} />}
        waiting={(error) => (
          <main id="content" class="sign-in">
            {error ? <Failure error={error} /> : <Loading lines={2} />}
          </main>
        )}
      >
        <Confirmations>
          <CurrentPage />
        </Confirmations>
      </SessionGate>
    </Toasts>
  );
}

function CurrentPage() {
  const { page, id, query } = usePlace();
  const Record = id === null ? undefined : RECORDS[page];
  if (id !== null && Record) {
    return (
      <Frame current={page}>
        <Record key={`${page} ${id}`} id={id} />
      </Frame>
    );
  }
  const known = page in LISTS ? page : "overview";
  const List = LISTS[known] ?? OverviewPage;
  return (
    <Frame current={known}>
      <List key={known} query={query} />
    </Frame>
  );
}
