import { type Command, Option } from "commander";
import type { EventTypeView } from "../actions/events.ts";
import { LIBRARY_LANGUAGES, type LibraryLanguage } from "../domain/event-types.ts";
import type { CommandContext } from "./context.ts";
import { listPage, pageOptions, type PageOptions, print } from "./output.ts";
import { cut, fitted, type Line } from "./table.ts";
import { publishCommand, showCommand } from "./published-event.ts";

interface TypesOptions extends PageOptions {
  check?: string | true;
  against?: string;
  generate?: LibraryLanguage;
}

export function eventCommands(program: Command, context: CommandContext): void {
  const event = program.command("event").description("events and their types");
  typesCommand(event, context);
  publishCommand(event, context);
  showCommand(event, context);
}

function typesCommand(event: Command, context: CommandContext): void {
  const types = event
    .command("types")
    .description(
      "list the event types, check a folder of them, or make a library that publishes them",
    )
    .option(
      "--check [folder]",
      "check the files of a folder instead of listing types (default: EVENT_TYPES)",
    )
    .option(
      "--against <folder>",
      "with --check: compare with this older folder, and report changes that break receivers",
    )
    .addOption(
      new Option("--generate <language>", "print a library that publishes the types of EVENT_TYPES")
        .choices(LIBRARY_LANGUAGES)
        .conflicts("check"),
    );
  pageOptions(types).action(
    async ({ check, against, generate, ...options }: TypesOptions, command: Command) => {
      if (generate !== undefined) {
        context.stdout(await context.generateLibrary(generate));
        return;
      }
      if (check !== undefined) {
        const folder = check === true ? null : check;
        const found = await context.checkEventTypes(folder, against ?? null);
        print(context, options, found, ({ types }) => `${count(types)} valid.\n`);
        return;
      }
      if (against !== undefined) command.error("error: --against requires --check");
      await listPage(
        context,
        "/event-types",
        options,
        () => ({
          headings: ["TYPE", "SUMMARY"],
          line: typeLine,
          empty: "There are no event types.",
        }),
        { readsEventTypes: true },
      );
    },
  );
}

function typeLine({ type, summary }: EventTypeView): Line {
  const { cell, ...below } = fitted(type, 50);
  return { cells: [cell, cut(summary, 68)], ...below };
}

function count(types: number): string {
  return types === 1 ? "1 event type is" : `${types} event types are`;
}
