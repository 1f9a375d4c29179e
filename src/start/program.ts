import type { Command } from "commander";
import { bridgeCommand, type BridgeOptions } from "../bridge/command.ts";
import type { CommandContext } from "../commands/command.ts";
import { CompleteCommand } from "../commands/complete-command.ts";
import { CommandError, explain } from "../commands/operator-api.ts";
import { listenCommand, type ListenOptions } from "../listen/command.ts";
import { statusCommand } from "../subjects/activity/commands.ts";
import { deliveryCommands } from "../subjects/deliveries/commands.ts";
import { eventCommands } from "../subjects/events/commands.ts";
import { keyCommands } from "../subjects/keys/commands.ts";
import { orgCommands } from "../subjects/organizations/commands.ts";
import { redeliveryCommands } from "../subjects/redeliveries/commands.ts";
import { resealCommand } from "../subjects/secrets/commands.ts";
import { subscriptionCommands } from "../subjects/subscriptions/commands.ts";

/** Everything that a command uses besides its arguments. Created once, in cli.ts or in a test. */
export interface ProgramContext extends CommandContext {
  serve(): Promise<void>;
  gateway(): Promise<void>;
  migrate(): Promise<void>;
  /** Returns false if a check fails. Prints the reasons itself. */
  doctor(): Promise<boolean>;
  demo(): Promise<void>;
  /** Publishes from the configured sources until it is stopped. Returns false if a check or the stop fails. */
  bridge(options: BridgeOptions): Promise<boolean>;
  /** Receives deliveries until it is stopped. */
  listen(options: ListenOptions): Promise<void>;
}

function lifeCycleCommands(program: Command, context: ProgramContext): void {
  program
    .command("serve")
    .description("run the service")
    .action(() => context.serve());

  program
    .command("gateway")
    .description("run one operators' API and console for several cells")
    .action(() => context.gateway());

  program
    .command("migrate")
    .description("update the database schema")
    .action(() => context.migrate());

  program
    .command("doctor")
    .description("check the configuration, the database, the keys and DNS")
    .action(async () => {
      if (!(await context.doctor())) throw new CommandError("some checks failed");
    });

  program
    .command("demo")
    .description("run the service end to end with a local receiver")
    .action(() => context.demo());
}

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
