import type { Process } from "../../api/shapes.ts";
import { StateBadge } from "../../components/badge.tsx";
import { count } from "../../components/numbers.ts";
import { OrganizationLink } from "../../components/id.tsx";
import { Panel } from "../../components/panel.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";

const SLOTS_SHOWN = 3;

const COLUMNS: Column<Process>[] = [
  {
    title: "Process",
    line: 1,
    show: ({ host, pid }) => (
      <span class="tight">
        {host} <span class="quiet">{pid}</span>
      </span>
    ),
  },
  { title: "State", line: 1, end: true, show: ({ state }) => <StateBadge state={state} /> },
  {
    title: "Role",
    line: 2,
    show: ({ role, version }) => (
      <div class="tight">
        {role}
        <div class="under">{version}</div>
      </div>
    ),
  },
  { title: "Started", line: 3, show: ({ started_at }) => <Ago at={started_at} /> },
  {
    title: "Last seen",
    line: 2,
    end: true,
    show: ({ last_seen_at: seen, last_recorded_at: recorded }) => (
      <div class="tight">
        <Ago at={seen} />
        {recorded && (
          <div class="under">
            last outcome <Ago at={recorded} />
          </div>
        )}
      </div>
    ),
  },
  {
    title: "In flight",
    number: true,
    show: ({ attempts_under_way: attempts, slots }) => (
      <>
        {count(attempts)}
        {slots && <div class="under">of {count(slots)}</div>}
      </>
    ),
  },
  {
    title: "Busiest organizations",
    wide: true,
    show: ({ organizations }) => <Slots of={organizations} />,
  },
];

function Slots({ of }: { of: Process["organizations"] }) {
  if (of.length === 0) return <span class="quiet">–</span>;
  return (
    <>
      {of.slice(0, SLOTS_SHOWN).map(({ slug, slots }, index) => (
        <span key={slug}>
          {index > 0 && ", "}
          <OrganizationLink slug={slug} /> {count(slots)}
        </span>
      ))}
      {of.length > SLOTS_SHOWN && <span class="quiet"> and {of.length - SLOTS_SHOWN} more</span>}
    </>
  );
}

/** Those that run come first. */
const byState = (a: Process, b: Process): number =>
  Number(a.state === "gone") - Number(b.state === "gone");

export function Processes({ items }: { items: Process[] }) {
  return (
    <Panel title="Processes" note="a process that is gone stays in the list for a day">
      {items.length === 0 ? (
        <Empty icon="warning" title="No process has reported" />
      ) : (
        <Table
          name="Processes"
          columns={COLUMNS}
          items={items.toSorted(byState)}
          keyOf={({ id }) => id}
        />
      )}
    </Panel>
  );
}
