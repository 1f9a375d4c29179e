import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Overview } from "../actions/overview.ts";
import { systemClock } from "../domain/clock.ts";
import { type ErrorCode, PartnerError } from "../domain/errors.ts";
import type { CommandContext } from "./context.ts";
import { CommandError, explain } from "./errors.ts";
import type { OperatorApi } from "./operator-api.ts";
import { type JsonOption, jsonOption, print } from "./output.ts";
import { showOverview } from "./overview-text.ts";

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
