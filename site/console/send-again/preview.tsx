import type { Delivery, JobAction, RedeliveryPreview } from "../api/shapes.ts";
import { Field } from "../components/field.tsx";
import { count, plural } from "../components/numbers.ts";
import { type Column, Table } from "../components/table.tsx";
import { Ago } from "../components/time.tsx";
import { spanInWords } from "../components/time-words.ts";
import { shorten } from "../components/id.tsx";

const SAMPLE_MAX = 5;

const COLUMNS: Column<Delivery>[] = [
  { title: "Receiver", line: 1, show: ({ host }) => host },
  { title: "Type", line: 2, show: ({ event_type }) => event_type },
  { title: "Last failure", line: 2, end: true, show: ({ reason }) => reason ?? "–" },
  { title: "Created", line: 1, end: true, show: ({ created_at }) => <Ago at={created_at} /> },
  { title: "Event", line: 3, show: ({ event_id }) => <span class="id">{shorten(event_id)}</span> },
];

/** How many a job would send again. */
export const toSend = ({ count, already_redelivered: before }: RedeliveryPreview): number =>
  Math.max(0, count - before);

const NOTHING = { redeliver: "send", attempt_now: "attempt", cancel: "cancel" };
const EFFECTS = {
  redeliver: "will be sent again as new deliveries",
  attempt_now: "become due, each once and with its number of attempts",
  cancel: "will be cancelled",
};

/** How many deliveries a job is for, how long that takes, and some of them. */
export function Preview({
  preview,
  rate,
  action,
}: {
  preview: RedeliveryPreview;
  rate: number;
  action: JobAction;
}) {
  const { sample, estimated, already_redelivered: before } = preview;
  const total = toSend(preview);
  const skipped = before > 0 && ` ${count(before)} were sent again before and will be skipped.`;
  if (total === 0 && !estimated) {
    return (
      <p role="status">
        Nothing to {NOTHING[action]}:{" "}
        {before > 0 ? "all were sent again before." : "no delivery matches."}
      </p>
    );
  }
  const seconds = rate > 0 ? total / rate : 0;
  return (
    <>
      <p role="status">
        <strong>
          {estimated && "at least "}
          {plural(total, "delivery", "deliveries")}
        </strong>{" "}
        {EFFECTS[action]}, within about {spanInWords(Math.max(1, seconds))} at {count(rate)} a
        second.{skipped}
      </p>
      <Table
        name="Sample"
        columns={COLUMNS}
        items={sample.slice(0, SAMPLE_MAX)}
        keyOf={({ id }) => id}
      />
    </>
  );
}

export function Rate({ value, set }: { value: number; set: (rate: number) => void }) {
  return (
    <Field
      label="Deliveries a second, at most"
      type="number"
      min={1}
      max={1000}
      value={String(value)}
      onInput={({ currentTarget }) => set(Number(currentTarget.value))}
    />
  );
}
