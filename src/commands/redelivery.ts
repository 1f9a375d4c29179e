import type { Command } from "commander";
import type { RedeliveryView } from "../actions/views/redelivery.ts";
import type { RedeliveryState, RequestedState } from "../domain/redelivery.ts";
import type { CommandContext } from "./context.ts";
import { at } from "./operator-api.ts";
import {
  type JsonOption,
  jsonOption,
  listPage,
  pageOptions,
  type PageOptions,
  print,
} from "./output.ts";
import type { Style } from "./paint.ts";
import { filterWords, sentence, showRedelivery } from "./redelivery-text.ts";
import { cut, type Line, shortTime } from "./table.ts";

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
