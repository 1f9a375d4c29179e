import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./errors.ts";

export function lifeCycleCommands(program: Command, context: CommandContext): void {
  program
    .command("serve")
    .description("run the service until it is told to stop")
    .action(() => context.serve());

  program
    .command("migrate")
    .description("bring the database's schema up to date")
    .action(() => context.migrate());

  program
    .command("doctor")
    .description("check the whole set-up")
    .action(async () => {
      if (!(await context.doctor())) throw new CommandError("not everything is in order");
    });

  program
    .command("demo")
    .description("show the main job end to end, on one screen")
    .action(() => context.demo());
}
