import type { Command } from "commander";
import type { BridgeOptions } from "./bridge.ts";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./errors.ts";
import type { ListenOptions } from "./listen-options.ts";

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

export function lifeCycleCommands(program: Command, context: ProgramContext): void {
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
