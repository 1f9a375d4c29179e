import type { HeldSubscription } from "../../api/shapes.ts";
import { OrganizationLink } from "../../components/id.tsx";
import { Panel } from "../../components/panel.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Ago, Moment } from "../../components/time.tsx";
import { recordAddress } from "../../place.ts";

const COLUMNS: Column<HeldSubscription>[] = [
  {
    title: "Receiver",
    line: 1,
    wide: true,
    show: ({ id, host, organization: { slug } }) => (
      <>
        <a href={recordAddress("subscriptions", id)}>{host}</a>
        <div class="under">
          <OrganizationLink slug={slug} />
        </div>
      </>
    ),
  },
  { title: "Held", line: 1, end: true, show: ({ held_at: at }) => <Ago at={at} /> },
  { title: "Release by", line: 2, show: ({ release_by: at }) => <Moment at={at} /> },
];

/** The subscriptions that operators hold, so that none is forgotten. */
export function Held({ items }: { items: HeldSubscription[] }) {
  if (items.length === 0) return null;
  return (
    <Panel title="Held" note="by operators, the longest first">
      <Table name="Held" columns={COLUMNS} items={items} keyOf={({ id }) => id} />
    </Panel>
  );
}
