import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Overview } from "../actions/overview.ts";
import { systemClock } from "../domain/clock.ts";
import type { CommandContext } from "./context.ts";
import { type JsonOption, jsonOption, print } from "./output.ts";
import { showOverview } from "./overview-text.ts";

const WATCH_MS = 2_000;
const CLEAR = "\u001b[H\u001b[J";

export function statusCommand(program: Command, context: CommandContext): void {
  program
    .command("status")
    .description("show the health of the service, its activity and its problems")
    .option("--watch", "refresh every 2 s until Ctrl-C")
    .addOption(jsonOption())
    .action(async ({ watch, ...options }: JsonOption & { watch?: true }) => {
      await context.withOperatorApi(async (api) => {
        for (;;) {
          const overview = await api.get<Overview>("/overview");
          if (watch && context.isTerminal && !options.json) context.stdout(CLEAR);
          print(context, options, overview, (shown) => showOverview(shown, systemClock(), context));
          if (!watch) return;
          await sleep(WATCH_MS);
        }
      });
    });
}
