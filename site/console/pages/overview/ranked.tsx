import type { RankedSubscription } from "../../api/shapes.ts";
import { StateBadge } from "../../components/badge.tsx";
import { OrganizationLink } from "../../components/id.tsx";
import { count, milliseconds, percent } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { recordAddress } from "../../place.ts";
import { InARow } from "../subscription/streak.tsx";

type Item = RankedSubscription;

const RECEIVER: Column<Item> = {
  title: "Receiver",
  line: 1,
  wide: true,
  show: ({ id, host, active, organization }) => (
    <>
      <a href={recordAddress("subscriptions", id)} title={id}>
        {host}
      </a>
      <div class="under">
        <OrganizationLink slug={organization.slug} />{" "}
        {!active && <StateBadge state="auto-disabled" />}
      </div>
    </>
  ),
};

const FAILING: Column<Item>[] = [
  RECEIVER,
  {
    title: "Failed",
    number: true,
    line: 1,
    end: true,
    show: ({ failed, attempts }) => (
      <>
        {count(failed)}
        <div class="under">of {count(attempts)}</div>
      </>
    ),
  },
  {
    title: "Succeeded",
    number: true,
    line: 2,
    show: ({ success_share: share }) => <ShareBar share={share} />,
  },
  {
    title: "Failed in a row",
    number: true,
    line: 2,
    end: true,
    show: ({ consecutive_failures: streak }) => <InARow streak={streak} />,
  },
];

const SLOWEST: Column<Item>[] = [
  RECEIVER,
  {
    title: "p50",
    number: true,
    line: 2,
    show: ({ attempt_ms: times }) => milliseconds(times.p50),
  },
  {
    title: "p99",
    number: true,
    line: 1,
    end: true,
    show: ({ attempt_ms: times }) => milliseconds(times.p99),
  },
  {
    title: "Attempts",
    number: true,
    line: 2,
    end: true,
    show: ({ attempts }) => count(attempts),
  },
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
