import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { CommandContext } from "../../commands/command.ts";
import { at, CommandError, type OperatorApi } from "../../commands/operator-api.ts";
import {
  cut,
  fields,
  type JsonOption,
  jsonOption,
  type Line,
  listPage,
  momentOf,
  pageOptions,
  type PageOptions,
  print,
  shortTime,
  SPAN_RULE,
  type Style,
  table,
  wholeNumber,
} from "../../commands/output.ts";
import { systemClock } from "../../lib/clock.ts";
import { deliveryHeadings, deliveryLine } from "../deliveries/text.ts";
import type { DeliveryView } from "../deliveries/work.ts";
import { RATE, REDELIVERABLE_STATES, type RedeliveryState, type RequestedState } from "./rules.ts";
import type { RedeliveryPreview, RedeliveryView } from "./work.ts";

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

function sentence(job: RedeliveryView): string {
  return `Redelivery ${job.id} is ${job.state}: ${job.done} of ${job.total} sent, ${job.skipped} skipped, ${job.failed} failed.\n`;
}

/** The deliveries that a job sends again, and their receiver. */
function filterWords({ filter, to }: Pick<RedeliveryView, "filter" | "to">): string {
  const { organization, ...others } = filter;
  const asked = filter.subscription === null ? { organization, ...others } : others;
  const kept = Object.entries(asked).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${value}`],
  );
  return `${kept.join(", ")}${to === null ? "" : ` to ${to}`}`;
}

function showRedelivery(job: RedeliveryView): string {
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

function showPreview(
  { count, estimated, already_redelivered: again, sample }: RedeliveryPreview,
  options: { isTerminal: boolean },
): string {
  const atLeast = estimated ? "at least " : "";
  const said = `Deliveries that match: ${atLeast}${count}. Already redelivered and therefore skipped: ${again}.\n`;
  if (sample.length === 0) return said;
  return `${said}The newest:\n\n${table(deliveryHeadings, sample.map(deliveryLine), options)}`;
}

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

const headings = ["ID", "CREATED", "STATE", "SENT", "SKIPPED", "FAILED", "TOTAL"];
const NOTE_WIDTH = 116;
const STATE_COLUMN = headings.indexOf("STATE");
const STYLES = {
  queued: "dim",
  running: "green",
  paused: "yellow",
  cancelled: "yellow",
  finished: "green",
} as const satisfies Record<RedeliveryState, Style>;

const CHANGES: Record<string, { state: RequestedState; description: string }> = {
  pause: { state: "paused", description: "pause a redelivery" },
  resume: { state: "running", description: "continue a paused redelivery" },
  cancel: {
    state: "cancelled",
    description: "cancel a redelivery; sent deliveries are not recalled",
  },
};

export function redeliveryCommands(program: Command, context: CommandContext): void {
  const redelivery = program
    .command("redelivery")
    .description("jobs that redeliver many deliveries, created by delivery redeliver");

  pageOptions(redelivery.command("list").description("list redeliveries, newest first")).action(
    (options: PageOptions) =>
      listPage(context, "/redeliveries", options, () => ({
        headings,
        line,
        empty: "There is no redelivery.",
      })),
  );

  redelivery
    .command("show <id>")
    .description("show a redelivery: its filter and its progress")
    .addOption(jsonOption())
    .action(async (id: string, options: JsonOption) => {
      const job = await context.withOperatorApi((api) =>
        api.get<RedeliveryView>(at`/redeliveries/${id}`),
      );
      print(context, options, job, showRedelivery);
    });

  for (const [name, { state, description }] of Object.entries(CHANGES)) {
    redelivery
      .command(`${name} <id>`)
      .description(description)
      .addOption(jsonOption())
      .action(async (id: string, options: JsonOption) => {
        const changed = await context.withOperatorApi((api) =>
          api.patch<RedeliveryView>(at`/redeliveries/${id}`, { state }),
        );
        print(context, options, changed, sentence);
      });
  }
}

function line(job: RedeliveryView): Line {
  const { id, created_at, state, done, skipped, failed, total } = job;
  return {
    cells: [id, shortTime(created_at), state, ...[done, skipped, failed, total].map(String)],
    note: cut(`${filterWords(job)}, by ${job.created_by}`, NOTE_WIDTH),
    styles: { [STATE_COLUMN]: STYLES[state] },
  };
}
