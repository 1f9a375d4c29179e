import type { NearLimit } from "../../api/shapes.ts";
import { OrganizationLink } from "../../components/id.tsx";
import { count, percent } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";

const COLUMNS: Column<NearLimit>[] = [
  {
    title: "Organization",
    line: 1,
    wide: true,
    show: ({ organization: { slug } }) => <OrganizationLink slug={slug} />,
  },
  {
    title: "Busiest minute",
    number: true,
    line: 2,
    show: ({ busiest_minute: peak, rate_limit_per_minute: limit }) => (
      <>
        {count(peak)}
        <div class="under">of {count(limit)}</div>
      </>
    ),
  },
  {
    title: "Used",
    number: true,
    line: 1,
    end: true,
    show: ({ busiest_minute: peak, rate_limit_per_minute: limit }) => (
      <>
        {percent(peak / limit)}
        <span class="bar used" aria-hidden="true">
          <span style={{ width: `${Math.min(100, (100 * peak) / limit)}%` }} />
        </span>
      </>
    ),
  },
  {
    title: "Refused",
    number: true,
    line: 2,
    end: true,
    show: ({ rate_limited: refused }) => count(refused),
  },
];

export function NearestToLimit({ items }: { items: NearLimit[] }) {
  return (
    <Panel title="Nearest to their limit" note="requests of organizations, in the last hour">
      {items.length === 0 ? (
        <Empty icon="check" title="No organization used half of its limit" />
      ) : (
        <Table
          name="Nearest to their limit"
          columns={COLUMNS}
          items={items}
          keyOf={({ organization }) => organization.id}
        />
      )}
    </Panel>
  );
}
