import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { CommandContext } from "../../commands/command.ts";
import { CommandError, explain, type OperatorApi } from "../../commands/operator-api.ts";
import {
  cut,
  fields,
  type JsonOption,
  jsonOption,
  type Line,
  type Paint,
  painter,
  print,
  PROCESS_STYLES,
  shortTime,
  SUBSCRIPTION_STYLES,
  table,
  wrap,
} from "../../commands/output.ts";
import { systemClock } from "../../lib/clock.ts";
import { type ErrorCode, PartnerError } from "../../lib/errors.ts";
import { printable } from "../../lib/printable.ts";
import type { Overview } from "./overview.ts";
import type { Latency, ServiceStatus } from "./rules.ts";

const URL_WIDTH = 50;
const FAILING_URL_WIDTH = 40;

const COLOURS = { ok: "green", degraded: "yellow", down: "red" } as const satisfies Record<
  ServiceStatus,
  Parameters<Paint>[0]
>;

const SENTENCES = {
  ok: "the service is healthy",
  degraded: "the service works, but has problems",
  down: "the service does not accept events, or does not deliver them",
} as const satisfies Record<ServiceStatus, string>;

interface Screen {
  isTerminal: boolean;
}

/** The overview in at most 120 columns. */
export function showOverview(overview: Overview, now: Date, screen: Screen): string {
  const { status, problems } = overview;
  const paint = painter(screen);
  const parts = [
    `${paint(COLOURS[status], status)}: ${SENTENCES[status]}\n`,
    problems.map(({ code, detail, since }) =>
      wrap(`  ${code}, since ${ageOf(since, now)}: ${printable(detail)}`, "    "),
    ),
    `\n${facts(overview)}`,
    held(overview, now, screen),
    failing(overview.failing, screen),
    slowest(overview.slowest, screen),
    nearLimit(overview, screen),
    processes(overview, now, screen),
  ];
  return parts.flat().join("");
}

function facts({ now, last_24h: day }: Overview): string {
  const { waiting } = now;
  const about = waiting.estimated ? "about " : "";
  return fields({
    now: [
      `${number(now.deliveries_per_second)} deliveries/s`,
      `${percent(now.success_share)} succeed`,
      latency(now.attempt_ms),
      `${number(now.attempts_under_way)} attempts in flight`,
    ].join(", "),
    waiting: `${about}${number(waiting.due)} due now, ${about}${number(waiting.scheduled)} scheduled later, ${heldIn(waiting)}the oldest due for ${number(now.oldest_due_seconds)} s`,
    "last 24 h": [
      `${number(day.published)} published`,
      `${number(day.delivered)} delivered`,
      `${number(day.dead_lettered)} dead-lettered`,
      `${number(day.cancelled)} cancelled`,
      `${number(day.disabled)} subscriptions disabled`,
    ].join(", "),
  });
}

/** A service of an older version answers without this number. */
function heldIn({ held }: Partial<Overview["now"]["waiting"]>): string {
  return held ? `${number(held)} held, ` : "";
}

/** A service of an older version answers without this list. */
function held({ held: items = [] }: Partial<Pick<Overview, "held">>, now: Date, screen: Screen) {
  const [first] = items;
  if (!first) return "";
  const lines = items.map(({ organization, url, held_at, release_by }): Line => ({
    cells: [
      cut(organization.slug, 20),
      cut(url, URL_WIDTH),
      ageOf(held_at, now),
      shortTime(release_by),
    ],
  }));
  const next = `  release: partner-api subscription release ${first.id}\n`;
  return `\n${table(["HELD", "RECEIVER", "SINCE", "RELEASE BY"], lines, screen)}${next}`;
}

const failingHeadings = ["FAILING", "RECEIVER", "FAILED", "SUCCEED", "IN A ROW", "STATE"];

/** Ends with the command that shows why the first of them fails. */
function failing(items: Overview["failing"], screen: Screen): string {
  const [first] = items;
  if (!first) return "";
  const lines = items.map((item): Line => {
    const state = item.active ? "active" : "disabled";
    return {
      cells: [
        cut(item.organization.slug, 20),
        cut(item.url, FAILING_URL_WIDTH),
        `${item.failed} of ${item.attempts}`,
        percent(item.success_share),
        String(item.consecutive_failures),
        state,
      ],
      styles: { [failingHeadings.indexOf("STATE")]: SUBSCRIPTION_STYLES[state] },
    };
  });
  const next = `  why: partner-api delivery list --since 1h --subscription ${first.id}\n`;
  return `\n${table(failingHeadings, lines, screen)}${next}`;
}

function slowest(items: Overview["slowest"], screen: Screen): string {
  if (items.length === 0) return "";
  const lines = items.map(({ organization, url, attempts, attempt_ms }): Line => ({
    cells: [
      cut(organization.slug, 20),
      cut(url, URL_WIDTH),
      String(attempts),
      `${number(attempt_ms.p50)} ms`,
      `${number(attempt_ms.p99)} ms`,
    ],
  }));
  return `\n${table(["SLOWEST", "RECEIVER", "ATTEMPTS", "P50", "P99"], lines, screen)}`;
}

/** A service of an older version answers without this list. */
function nearLimit(
  { near_limit: items = [] }: Partial<Pick<Overview, "near_limit">>,
  screen: Screen,
): string {
  if (items.length === 0) return "";
  const lines = items.map(({ organization, busiest_minute, ...one }): Line => ({
    cells: [
      cut(organization.slug, 20),
      `${busiest_minute} of ${one.rate_limit_per_minute}`,
      percent(busiest_minute / one.rate_limit_per_minute),
      String(one.rate_limited),
    ],
  }));
  return `\n${table(["NEAR LIMIT", "BUSIEST MINUTE", "USED", "REFUSED"], lines, screen)}`;
}

const processHeadings = ["PROCESS", "ROLE", "VERSION", "STATE", "STARTED", "SEEN", "IN FLIGHT"];
const STATE_COLUMN = processHeadings.indexOf("STATE");

function processes({ processes: all, last_24h: day }: Overview, now: Date, screen: Screen): string {
  if (day.published === null)
    return "\nProcesses are not known while the database is unavailable.\n";
  if (all.length === 0) return "\nNo process has reported.\n";
  const lines = all.map((one): Line => ({
    cells: [
      cut(`${one.host}:${one.pid}`, 40),
      one.role,
      one.version,
      one.state,
      ageOf(one.started_at, now),
      ageOf(one.last_seen_at, now),
      one.slots ? `${one.attempts_under_way} of ${one.slots}` : `${one.attempts_under_way}`,
    ],
    styles: { [STATE_COLUMN]: PROCESS_STYLES[one.state] },
  }));
  return `\n${table(processHeadings, lines, screen)}`;
}

function number(value: number | null): string {
  return value === null ? "?" : value.toLocaleString("en");
}

function percent(share: number | null): string {
  return share === null ? "-" : `${Math.round(1_000 * share) / 10} %`;
}

function latency({ p50, p99 }: Latency): string {
  return p50 === null ? "no attempts" : `p50 ${p50} ms, p99 ${number(p99)} ms`;
}

/** Returns the time since then, in its largest unit. */
function ageOf(iso: string, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(iso)) / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

const WATCH_MS = 2_000;
const CLEAR = "\u001b[H\u001b[J";

/** Errors that stay until somebody gives another token. */
const LASTING: ErrorCode[] = ["unauthenticated", "insufficient_role"];

export function statusCommand(program: Command, context: CommandContext): void {
  program
    .command("status")
    .description(
      "show the health, the activity and the problems of the service; exit with 0 only if it is healthy",
    )
    .option("--watch", "refresh every 2 s until Ctrl-C")
    .addOption(jsonOption())
    .action(async ({ watch, ...options }: JsonOption & { watch?: true }) => {
      const status = await context.withOperatorApi((api) =>
        watch ? keepShowing(api, context, options) : show(api, context, options),
      );
      if (status !== "ok") throw new CommandError(`the service is ${status}`);
    });
}

/** While the service is away, its error is shown in place of the overview. */
async function keepShowing(
  api: OperatorApi,
  context: CommandContext,
  options: JsonOption,
): Promise<never> {
  const isCleared = context.isTerminal && !options.json;
  const { pause = sleep } = context;
  for (;;) {
    try {
      await show(api, context, options, isCleared ? CLEAR : "");
    } catch (error) {
      if (error instanceof PartnerError && LASTING.includes(error.code)) throw error;
      if (isCleared) context.stdout(CLEAR);
      explain(error, context);
    }
    await pause(WATCH_MS);
  }
}

async function show(
  api: OperatorApi,
  context: CommandContext,
  options: JsonOption,
  before = "",
): Promise<Overview["status"]> {
  const overview = await api.get<Overview>("/overview");
  context.stdout(before);
  print(context, options, overview, (shown) => showOverview(shown, systemClock(), context));
  return overview.status;
}
