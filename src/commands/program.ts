import type { Command } from "commander";
import { bridgeCommand } from "./bridge.ts";
import { CompleteCommand } from "./complete-command.ts";
import { deliveryCommands } from "./delivery.ts";
import { eventCommands } from "./event.ts";
import { explain } from "./errors.ts";
import { keyCommands } from "./key.ts";
import { lifeCycleCommands, type ProgramContext } from "./life-cycle.ts";
import { listenCommand } from "./listen.ts";
import { orgCommands } from "./org.ts";
import { redeliveryCommands } from "./redelivery.ts";
import { resealCommand } from "./reseal.ts";
import { statusCommand } from "./status.ts";
import { subscriptionCommands } from "./subscription.ts";

const WIDTH = 100;

/** Builds the command line. Errors are thrown and never end the process. */
export function buildProgram(context: ProgramContext): Command {
  const program = new CompleteCommand("partner-api")
    .description("A partner-facing HTTP API: identity, webhook subscriptions, signed deliveries.")
    .exitOverride()
    .configureOutput({
      writeOut: context.stdout,
      writeErr: context.stderr,
      getOutHelpWidth: () => WIDTH,
      getErrHelpWidth: () => WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  if (context.version !== undefined) program.version(context.version);

  lifeCycleCommands(program, context);
  statusCommand(program, context);
  program.addCommand(
    listenCommand((options) => context.listen(options)).copyInheritedSettings(program),
  );
  program.addCommand(
    bridgeCommand((options) => context.bridge(options)).copyInheritedSettings(program),
  );
  orgCommands(program, context);
  keyCommands(program, context);
  subscriptionCommands(program, context);
  deliveryCommands(program, context);
  redeliveryCommands(program, context);
  eventCommands(program, context);
  resealCommand(program, context);
  return program;
}

/**
 * Runs a command line, without the program's name. Returns the exit status: 0 for success, 1 for a
 * failure, 2 for misuse.
 */
export async function runCommand(context: ProgramContext, argv: string[]): Promise<number> {
  try {
    await buildProgram(context).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    return explain(error, context);
  }
}
