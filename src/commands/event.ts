import type { Command } from "commander";
import type { Dependencies } from "../actions/dependencies.ts";
import type { CommandContext } from "./context.ts";
import { type JsonOption, jsonOption, print } from "./output.ts";
import { publishCommand, showCommand } from "./published-event.ts";
import { table } from "./table.ts";

interface TypesOptions extends JsonOption {
  check?: string | true;
  against?: string;
}

export function eventCommands(program: Command, context: CommandContext): void {
  const event = program.command("event").description("events and their types");
  typesCommand(event, context);
  publishCommand(event, context);
  showCommand(event, context);
}

function typesCommand(event: Command, context: CommandContext): void {
  event
    .command("types")
    .description("list the event types, or check a folder of them")
    .option("--check [folder]", "check a folder instead (default: EVENT_TYPES)")
    .option("--against <folder>", "with --check: refuse changes that break receivers of this one")
    .addOption(jsonOption())
    .action(async ({ check, against, ...options }: TypesOptions, command: Command) => {
      if (check !== undefined) {
        const folder = check === true ? null : check;
        const found = await context.checkEventTypes(folder, against ?? null);
        print(context, options, found, ({ types }) => `${count(types)} in order.\n`);
        return;
      }
      if (against !== undefined) command.error("error: --against needs --check");
      const items = await context.withDependencies(list, { readsEventTypes: true });
      print(context, options, { items, next_cursor: null }, () =>
        table(
          ["TYPE", "SUMMARY"],
          items.map(({ type, summary }) => ({ cells: [type, summary] })),
          context,
        ),
      );
    });
}

function list({ eventTypes }: Dependencies): Promise<{ type: string; summary: string }[]> {
  return Promise.resolve([...eventTypes].map(({ name, summary }) => ({ type: name, summary })));
}

function count(types: number): string {
  return types === 1 ? "1 event type is" : `${types} event types are`;
}
