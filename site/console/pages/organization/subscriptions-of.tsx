import { useState } from "preact/hooks";
import type { Page, Subscription, SubscriptionDetail } from "../../api/shapes.ts";
import { type Query, useQuery } from "../../api/use-query.ts";
import { AttemptStrip } from "../../charts/attempt-strip.tsx";
import { Button } from "../../components/button.tsx";
import { Panel } from "../../components/panel.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { ShareBar } from "../overview/ranked.tsx";
import { SUBSCRIPTION_COLUMNS } from "../subscriptions.tsx";

const SHOWN_FIRST = 20;
const HEALTH_REFRESH_MS = 60_000;

const HEALTH: Column<Subscription>[] = [
  { title: "Succeeded, 24 h", number: true, show: ({ id }) => <Share id={id} /> },
  { title: "Last attempts", show: ({ id }) => <Strip id={id} /> },
];

const COLUMNS = [...SUBSCRIPTION_COLUMNS.slice(0, 3), ...HEALTH, ...SUBSCRIPTION_COLUMNS.slice(3)];

/** An organization's subscriptions, failing ones first. */
export function SubscriptionsOf({
  slug,
  query: { data, error, reload },
}: {
  slug: string;
  query: Query<Page<Subscription>>;
}) {
  const [isFull, setIsFull] = useState(false);
  const ordered = [...(data?.items ?? [])].sort(failingFirst);
  const shown = isFull ? ordered : ordered.slice(0, SHOWN_FIRST);
  return (
    <Panel title="Subscriptions" note="failing ones first">
      {error && <Failure error={error} retry={reload} />}
      {data === null && !error && <Loading />}
      {data?.items.length === 0 && (
        <Empty icon="subscriptions" title="No subscription yet">
          <p>{slug} subscribes its own URLs with a key that has webhooks:manage.</p>
        </Empty>
      )}
      {shown.length > 0 && (
        <Table name="Subscriptions" columns={COLUMNS} items={shown} keyOf={({ id }) => id} />
      )}
      {ordered.length > shown.length && (
        <div class="list-foot">
          <Button act={() => setIsFull(true)}>Show all {ordered.length}</Button>
        </div>
      )}
    </Panel>
  );
}

function failingFirst(a: Subscription, b: Subscription): number {
  return (
    Number(a.active) - Number(b.active) ||
    b.consecutive_failures - a.consecutive_failures ||
    b.created_at.localeCompare(a.created_at)
  );
}

const useHealth = (id: string) =>
  useQuery<SubscriptionDetail>(`subscriptions/${id}`, HEALTH_REFRESH_MS).data?.health ?? null;

function Share({ id }: { id: string }) {
  return <ShareBar share={useHealth(id)?.success_share ?? null} />;
}

function Strip({ id }: { id: string }) {
  const health = useHealth(id);
  return health && <AttemptStrip attempts={health.recent.slice(-30)} isSmall />;
}
