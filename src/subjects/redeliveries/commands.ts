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
import {
  type Action,
  RATE,
  REDELIVERABLE_STATES,
  type RedeliveryState,
  type RequestedState,
} from "./rules.ts";
import type { RedeliveryPreview, RedeliveryView } from "./work.ts";

const WIDTH = 30;

/** What a job has done with a delivery. */
const DONE = { redeliver: "sent", attempt_now: "due", cancel: "cancelled" } as const;

/** A service of an older version answers without the action. */
type Progress = Pick<RedeliveryView, "state" | "total" | "done" | "skipped" | "failed"> &
  Partial<Pick<RedeliveryView, "action">>;

/** Returns a bar and its figures in one line. */
export function progressLine({
  action = "redeliver",
  state,
  total,
  done,
  skipped,
  failed,
}: Progress): string {
  const passed = done + skipped + failed;
  const share = total === 0 ? Number(state === "finished") : Math.min(1, passed / total);
  const full = Math.floor(share * WIDTH);
  const bar = "#".repeat(full) + "-".repeat(WIDTH - full);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `[${bar}] ${percent}  ${done} of ${total} ${DONE[action]}, ${skipped} skipped, ${failed} failed, ${state}`;
}

function sentence({ action = "redeliver", ...job }: Progress & { id: string }): string {
  const name = action === "redeliver" ? "Redelivery" : "Job";
  return `${name} ${job.id} is ${job.state}: ${job.done} of ${job.total} ${DONE[action]}, ${job.skipped} skipped, ${job.failed} failed.\n`;
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
    ...(job.action !== "redeliver" && { action: job.action }),
    ...(job.reason !== null && { because: job.reason }),
    state: job.state,
    progress: progressLine(job),
    filter: filterWords({ filter: job.filter, to: null }),
    ...(job.action === "redeliver" && { to: job.to ?? "their own subscriptions" }),
    rate: `at most ${job.rate_per_second} a second`,
    created: `${job.created_at} by ${job.created_by}`,
    finished: job.finished_at ?? "-",
  });
}

function showPreview(
  { count, estimated, already_redelivered: again, sample }: RedeliveryPreview,
  { action, ...options }: { isTerminal: boolean; action: Action },
): string {
  const atLeast = estimated ? "at least " : "";
  const skipped =
    action === "redeliver" ? ` Already redelivered and therefore skipped: ${again}.` : "";
  const said = `Deliveries that match: ${atLeast}${count}.${skipped}\n`;
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
  rate?: number;
  dryRun?: true;
  wait?: true;
}

/** Adds the filters of a job, and how it runs. */
function jobOptions(command: Command, states: string): Command {
  return command
    .option("--organization <organization>", "only of this organization: id or slug")
    .option("--subscription <id>", "only of this subscription, even if it was deleted")
    .option("--state <state>", `only in this state: ${states}`)
    .option("--reason <reason>", "only with this reason of the last failure, such as http_503")
    .option("--event <event>", "only of this event (evt_…) or event type")
    .option("--since <time>", `created at or after: ${SPAN_RULE}`)
    .option("--until <time>", "created before")
    .option("--dry-run", "count the matches and show the newest, but do nothing")
    .option(
      "--wait",
      "wait until all are done; on a terminal the command always does, and shows the progress",
    )
    .addOption(jsonOption());
}

export function redeliverCommand(delivery: Command, context: CommandContext): void {
  const command = delivery
    .command("redeliver [id]")
    .description("redeliver one delivery, or all that match the filters")
    .option("--to <subscription>", "send to another active subscription of the organization")
    .option("--rate <n>", `deliveries a second (default: ${RATE.default})`, wholeNumber);
  jobOptions(command, REDELIVERABLE_STATES.join(", ")).action(
    async (id: string | undefined, { to, ...options }: Options & { to?: string }) => {
      if (isForOne(id, options)) await redeliverOne(context, pickJson(options), id, to);
      else await runJob(context, options, { to });
    },
  );
}

export function attemptCommand(delivery: Command, context: CommandContext): void {
  const command = delivery
    .command("attempt [id]")
    .description("attempt one waiting delivery now, or all that match the filters")
    .option("--rate <n>", `deliveries a second (default: ${RATE.default})`, wholeNumber);
  jobOptions(command, "waiting").action(async (id: string | undefined, options: Options) => {
    if (isForOne(id, options)) await attemptOne(context, pickJson(options), id);
    else await runJob(context, options, { action: "attempt_now" });
  });
}

export function cancelCommand(delivery: Command, context: CommandContext): void {
  const command = delivery
    .command("cancel")
    .description("cancel all waiting deliveries that match the filters")
    .option("--because <text>", "why, in at most 200 characters; it stays with each delivery")
    .option("--rate <n>", `deliveries a second (default: ${RATE.max})`, wholeNumber);
  jobOptions(command, "waiting").action(
    async ({ because = "", ...options }: Options & { because?: string }) => {
      if (because.trim() === "" && !options.dryRun) {
        throw new CommandError("say why the deliveries are cancelled: --because <text>");
      }
      const reason = because.trim() || undefined;
      await runJob(context, options, { action: "cancel", reason });
    },
  );
}

function isForOne(id: string | undefined, options: Options): id is string {
  const isMany = Object.keys(options).some((name) => name !== "json" && name !== "wait");
  if (id !== undefined && isMany) {
    throw new CommandError("specify the id of one delivery, or filters");
  }
  return id !== undefined;
}

function pickJson({ json }: JsonOption): JsonOption {
  return json ? { json } : {};
}

async function runJob(
  context: CommandContext,
  { rate, dryRun, wait, json, ...said }: Options,
  what: { action?: Action; reason?: string | undefined; to?: string | undefined },
): Promise<void> {
  const filter = filterOf(said, (context.clock ?? systemClock)());
  const request = { ...what, filter, rate_per_second: rate };
  const options = json ? { json } : {};
  await (dryRun
    ? preview(context, options, request)
    : startJob(context, { ...options, ...(wait && { wait }) }, request));
}

async function attemptOne(context: CommandContext, options: JsonOption, id: string): Promise<void> {
  const due = await context.withOperatorApi((api) =>
    api.post<DeliveryView>(at`/deliveries/${id}/attempt`),
  );
  print(
    context,
    options,
    due,
    ({ id, attempts }) => `Delivery ${id} is due now: attempt ${attempts + 1}.\n`,
  );
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
  request: { action?: Action },
): Promise<void> {
  const found = await context.withOperatorApi((api) =>
    api.post<RedeliveryPreview>("/redeliveries", { ...request, dry_run: true }),
  );
  print(context, options, found, (shown) =>
    showPreview(shown, { ...context, action: request.action ?? "redeliver" }),
  );
}

async function startJob(
  context: CommandContext,
  { wait, ...options }: JsonOption & { wait?: true },
  request: object,
): Promise<void> {
  const isShown = context.isTerminal && !options.json;
  const job = await context.withOperatorApi(async (api) => {
    const made = await api.post<RedeliveryView>("/redeliveries", request);
    if (!wait && !isShown) return made;
    const { id } = made;
    if (isShown) context.stderr(`Job ${id} continues without this command.\n`);
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

const headings = ["ID", "CREATED", "STATE", "DONE", "SKIPPED", "FAILED", "TOTAL"];
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
    .description("jobs for many deliveries, created by delivery redeliver, attempt and cancel");

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
    note: cut(`${actionWord(job)}${filterWords(job)}, by ${job.created_by}`, NOTE_WIDTH),
    styles: { [STATE_COLUMN]: STYLES[state] },
  };
}

function actionWord({ action = "redeliver" }: Partial<RedeliveryView>): string {
  return action === "redeliver" ? "" : `${action}: `;
}
