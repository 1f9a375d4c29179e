import type { Bridge } from "../../api/shapes.ts";
import { Badge, StateBadge } from "../../components/badge.tsx";
import { count } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";

type Row = Pick<Bridge, "host" | "pid" | "state" | "last_seen_at" | "version"> &
  Bridge["sources"][number] & { id: string };

const COLUMNS: Column<Row>[] = [
  {
    title: "Source",
    line: 1,
    wide: true,
    show: ({ name, kind, problem }) => (
      <div class="whole">
        {name} <span class="quiet">{kind}</span>
        {problem && <div class="under">{problem}</div>}
      </div>
    ),
  },
  {
    title: "State",
    line: 1,
    end: true,
    show: ({ state, problem }) =>
      state === "running" && problem !== null ? (
        <Badge tone="bad" icon="warning">
          not publishing
        </Badge>
      ) : (
        <StateBadge state={state} />
      ),
  },
  { title: "Lag", number: true, line: 2, show: (row) => lagOf(row) },
  { title: "Published", number: true, show: ({ published }) => count(published) },
  { title: "Set aside", number: true, line: 2, end: true, show: ({ set_aside: n }) => count(n) },
  {
    title: "Bridge",
    line: 3,
    show: ({ host, pid, version }) => (
      <div class="tight">
        {host} <span class="quiet">{pid}</span>
        <div class="under">{version}</div>
      </div>
    ),
  },
  { title: "Last seen", show: ({ last_seen_at: at }) => <Ago at={at} /> },
];

function lagOf({ lag_messages: messages, lag_bytes: bytes }: Row): string {
  if (messages !== null) return count(messages);
  return bytes === null ? "–" : `${count(Math.ceil(bytes / 1_024))} KiB`;
}

const rank = ({ state, problem }: Row): number => (state === "gone" ? 2 : Number(problem === null));

/** Each source of each bridge: those that do not publish first, then those that do, then those of bridges that are gone. */
export function Bridges({ items }: { items: Bridge[] }) {
  if (items.length === 0) return null;
  const rows = items.flatMap(({ id, host, pid, state, last_seen_at, version, sources }) =>
    sources.map((source) => ({
      ...{ host, pid, state, last_seen_at, version, ...source },
      id: `${id} ${source.name}`,
    })),
  );
  return (
    <Panel title="Bridges" note="a bridge that is gone stays in the list for a day">
      <Table
        name="Bridges"
        columns={COLUMNS}
        items={rows.toSorted((a, b) => rank(a) - rank(b))}
        keyOf={({ id }) => id}
      />
    </Panel>
  );
}
