import type { RedeliveryPreview } from "../actions/redeliveries.ts";
import type { RedeliveryView } from "../actions/views/redelivery.ts";
import { deliveryHeadings, deliveryLine } from "./delivery-text.ts";
import { fields, table } from "./table.ts";

const WIDTH = 30;

/** Returns a bar and its figures in one line. */
export function progressLine({
  state,
  total,
  done,
  skipped,
  failed,
}: Pick<RedeliveryView, "state" | "total" | "done" | "skipped" | "failed">): string {
  const passed = done + skipped + failed;
  const share = total === 0 ? Number(state === "finished") : Math.min(1, passed / total);
  const full = Math.floor(share * WIDTH);
  const bar = "#".repeat(full) + "-".repeat(WIDTH - full);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `[${bar}] ${percent}  ${done} of ${total} sent, ${skipped} skipped, ${failed} failed, ${state}`;
}

export function sentence(job: RedeliveryView): string {
  return `Redelivery ${job.id} is ${job.state}: ${job.done} of ${job.total} sent, ${job.skipped} skipped, ${job.failed} failed.\n`;
}

/** The deliveries that a job sends again, and their receiver. */
export function filterWords({ filter, to }: Pick<RedeliveryView, "filter" | "to">): string {
  const { organization, ...others } = filter;
  const asked = filter.subscription === null ? { organization, ...others } : others;
  const kept = Object.entries(asked).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${value}`],
  );
  return `${kept.join(", ")}${to === null ? "" : ` to ${to}`}`;
}

export function showRedelivery(job: RedeliveryView): string {
  return fields({
    id: job.id,
    state: job.state,
    progress: progressLine(job),
    filter: filterWords({ filter: job.filter, to: null }),
    to: job.to ?? "their own subscriptions",
    rate: `at most ${job.rate_per_second} a second`,
    created: `${job.created_at} by ${job.created_by}`,
    finished: job.finished_at ?? "-",
  });
}

export function showPreview(
  { count, estimated, already_redelivered: again, sample }: RedeliveryPreview,
  options: { isTerminal: boolean },
): string {
  const atLeast = estimated ? "at least " : "";
  const said = `Deliveries that match: ${atLeast}${count}. Already redelivered and therefore skipped: ${again}.\n`;
  if (sample.length === 0) return said;
  return `${said}The newest:\n\n${table(deliveryHeadings, sample.map(deliveryLine), options)}`;
}
