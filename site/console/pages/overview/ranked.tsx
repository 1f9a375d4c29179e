import type { RankedSubscription } from "../../api/shapes.ts";
import { StateBadge } from "../../components/badge.tsx";
import { OrganizationLink } from "../../components/id.tsx";
import { count, milliseconds, percent } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { recordAddress } from "../../place.ts";

type Item = RankedSubscription;

const RECEIVER: Column<Item> = {
  title: "Receiver",
  line: 1,
  show: ({ id, host, active }) => (
    <>
      <a href={recordAddress("subscriptions", id)} title={id}>
        {host}
      </a>{" "}
      {!active && <StateBadge state="auto-disabled" />}
    </>
  ),
};
const ORGANIZATION: Column<Item> = {
  title: "Organization",
  line: 2,
  show: ({ organization }) => <OrganizationLink slug={organization.slug} />,
};

const FAILING: Column<Item>[] = [
  RECEIVER,
  ORGANIZATION,
  { title: "Failed", number: true, line: 1, end: true, show: ({ failed }) => count(failed) },
  {
    title: "Attempts",
    number: true,
    show: ({ attempts }) => count(attempts),
  },
  {
    title: "Succeeded",
    number: true,
    line: 2,
    end: true,
    show: ({ success_share: share }) => <ShareBar share={share} />,
  },
  {
    title: "In a row",
    number: true,
    line: 3,
    show: ({ consecutive_failures: streak }) => `${streak} of 20`,
  },
];

const SLOWEST: Column<Item>[] = [
  RECEIVER,
  ORGANIZATION,
  {
    title: "p50",
    number: true,
    line: 2,
    end: true,
    show: ({ attempt_ms: times }) => milliseconds(times.p50),
  },
  {
    title: "p99",
    number: true,
    line: 1,
    end: true,
    show: ({ attempt_ms: times }) => milliseconds(times.p99),
  },
  { title: "Attempts", number: true, line: 3, show: ({ attempts }) => count(attempts) },
];

export function ShareBar({ share }: { share: number | null }) {
  return (
    <>
      {percent(share)}
      {share !== null && (
        <span class="bar" aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </>
  );
}

export function FailingSubscriptions({ items }: { items: Item[] }) {
  return (
    <Panel title="Failing most" note="subscriptions, in the last hour">
      {items.length === 0 ? (
        <Empty icon="check" title="No attempt failed in the last hour" />
      ) : (
        <Table name="Failing most" columns={FAILING} items={items} keyOf={({ id }) => id} />
      )}
    </Panel>
  );
}

export function SlowestSubscriptions({ items }: { items: Item[] }) {
  return (
    <Panel title="Slowest receivers" note="by response time, in the last hour">
      {items.length === 0 ? (
        <Empty icon="clock" title="Nothing was attempted in the last hour" />
      ) : (
        <Table name="Slowest receivers" columns={SLOWEST} items={items} keyOf={({ id }) => id} />
      )}
    </Panel>
  );
}
