import type { RedeliveryPreview } from "../actions/redeliveries.ts";
import type { RedeliveryView } from "../actions/views/redelivery.ts";
import { deliveryHeadings, deliveryLine } from "./delivery-text.ts";
import { table } from "./table.ts";

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

export function showPreview(
  { count, estimated, already_redelivered: again, sample }: RedeliveryPreview,
  options: { isTerminal: boolean },
): string {
  const said = `${estimated ? "At least " : ""}${count} deliveries match. ${again} of them were already redelivered and would be skipped.\n`;
  if (sample.length === 0) return said;
  return `${said}The newest:\n\n${table(deliveryHeadings, sample.map(deliveryLine), options)}`;
}
