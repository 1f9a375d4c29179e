import type { Page, Subscription, SubscriptionDetail } from "../../api/shapes.ts";
import { type Query, useQuery } from "../../api/use-query.ts";
import { AttemptStrip } from "../../charts/attempt-strip.tsx";
import { count } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { ShareBar } from "../overview/ranked.tsx";
import { addressOf } from "../../place.ts";
import { SUBSCRIPTION_COLUMNS } from "../subscriptions.tsx";

const HEALTH_REFRESH_MS = 60_000;

const HEALTH: Column<Subscription>[] = [
  { title: "Succeeded, 24 h", number: true, show: ({ id }) => <Share id={id} /> },
  { title: "Last attempts", show: ({ id }) => <Strip id={id} /> },
];

const COLUMNS = [...SUBSCRIPTION_COLUMNS.slice(0, 3), ...HEALTH, ...SUBSCRIPTION_COLUMNS.slice(3)];

/** The first of an organization's subscriptions, of `total`. Failing ones are the first. */
export function SubscriptionsOf({
  slug,
  query: { data, error, reload },
  total = 0,
}: {
  slug: string;
  query: Query<Page<Subscription>>;
  total?: number | undefined;
}) {
  const shown = data?.items ?? [];
  const isPart = data !== null && data.next_cursor !== null;
  const note = isPart
    ? `${shown.length} of ${count(total)}, failing ones first`
    : "failing ones first";
  return (
    <Panel title="Subscriptions" note={note}>
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
      {isPart && (
        <div class="list-foot">
          <a
            class="button"
            href={addressOf("subscriptions", { organization: slug, order: "failing" })}
          >
            All {count(total)} subscriptions
          </a>
        </div>
      )}
    </Panel>
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
