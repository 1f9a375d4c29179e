import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./errors.ts";

export function lifeCycleCommands(program: Command, context: CommandContext): void {
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
