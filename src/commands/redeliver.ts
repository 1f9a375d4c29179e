import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { RedeliveryPreview } from "../actions/redeliveries.ts";
import type { DeliveryView } from "../actions/views/delivery.ts";
import type { RedeliveryView } from "../actions/views/redelivery.ts";
import { systemClock } from "../domain/clock.ts";
import { RATE, REDELIVERABLE_STATES } from "../domain/redelivery.ts";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./errors.ts";
import { at, type OperatorApi } from "./operator-api.ts";
import { type JsonOption, jsonOption, print, wholeNumber } from "./output.ts";
import { progressLine, sentence, showPreview } from "./redelivery-text.ts";
import { momentOf, SPAN_RULE } from "./span.ts";

interface Filters {
  organization?: string;
  subscription?: string;
  state?: string;
  reason?: string;
  event?: string;
  since?: string;
  until?: string;
}

interface Options extends Filters, JsonOption {
  to?: string;
  rate?: number;
  dryRun?: true;
  wait?: true;
}

export function redeliverCommand(delivery: Command, context: CommandContext): void {
  delivery
    .command("redeliver [id]")
    .description("redeliver one delivery, or all that match the filters")
    .option("--organization <organization>", "only of this organization: id or slug")
    .option("--subscription <id>", "only of this subscription, even if it was deleted")
    .option("--state <state>", `only in this state: ${REDELIVERABLE_STATES.join(", ")}`)
    .option("--reason <reason>", "only with this reason of the last failure, such as http_503")
    .option("--event <event>", "only of this event (evt_…) or event type")
    .option("--since <time>", `created at or after: ${SPAN_RULE}`)
    .option("--until <time>", "created before")
    .option("--to <subscription>", "send to another active subscription of the organization")
    .option("--rate <n>", `deliveries a second (default: ${RATE.default})`, wholeNumber)
    .option("--dry-run", "count the matches and show the newest, but send nothing")
    .option(
      "--wait",
      "wait until all are sent; on a terminal the command always does, and shows the progress",
    )
    .addOption(jsonOption())
    .action(async (id: string | undefined, { to, rate, dryRun, wait, json, ...said }: Options) => {
      const options = json ? { json } : {};
      const isMany = Object.keys(said).length > 0 || rate !== undefined || dryRun !== undefined;
      if (id !== undefined && isMany) {
        throw new CommandError("specify the id of one delivery, or filters");
      }
      if (id !== undefined) {
        await redeliverOne(context, options, id, to);
        return;
      }
      const filter = filterOf(said, (context.clock ?? systemClock)());
      const request = { filter, to, rate_per_second: rate };
      await (dryRun
        ? preview(context, options, request)
        : redeliverMany(context, { ...options, ...(wait && { wait }) }, request));
    });
}

function filterOf({ since, until, ...rest }: Filters, now: Date): Filters {
  const moments = { since: momentOf(since, now), until: momentOf(until, now) };
  return JSON.parse(JSON.stringify({ ...rest, ...moments })) as Filters;
}

async function redeliverOne(
  context: CommandContext,
  options: JsonOption,
  id: string,
  to: string | undefined,
): Promise<void> {
  const made = await context.withOperatorApi((api) =>
    api.post<DeliveryView>(at`/deliveries/${id}/redeliver`, { to }),
  );
  print(
    context,
    options,
    made,
    (made) => `Delivery ${made.id} is queued: ${made.event_id} to ${made.subscription_id}.\n`,
  );
}

async function preview(
  context: CommandContext,
  options: JsonOption,
  request: object,
): Promise<void> {
  const found = await context.withOperatorApi((api) =>
    api.post<RedeliveryPreview>("/redeliveries", { ...request, dry_run: true }),
  );
  print(context, options, found, (shown) => showPreview(shown, context));
}

async function redeliverMany(
  context: CommandContext,
  { wait, ...options }: JsonOption & { wait?: true },
  request: object,
): Promise<void> {
  const isShown = context.isTerminal && !options.json;
  const job = await context.withOperatorApi(async (api) => {
    const made = await api.post<RedeliveryView>("/redeliveries", request);
    if (!wait && !isShown) return made;
    const { id } = made;
    if (isShown) context.stderr(`Redelivery ${id} continues without this command.\n`);
    return untilOver(api, id, (now) => {
      if (isShown) context.stdout(`\r${progressLine(now)}\u001b[K`);
    });
  });
  if (isShown) context.stdout("\n");
  print(context, options, job, sentence);
}

const WATCH_MS = 250;

/** Waits until the job is finished or an operator has paused it. */
async function untilOver(
  api: OperatorApi,
  id: string,
  show: (job: RedeliveryView) => void,
): Promise<RedeliveryView> {
  for (;;) {
    const job = await api.get<RedeliveryView>(at`/redeliveries/${id}`);
    show(job);
    if (job.finished_at !== null || job.state === "paused") return job;
    await sleep(WATCH_MS);
  }
}
