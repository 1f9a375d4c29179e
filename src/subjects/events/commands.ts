import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { type Command, Option } from "commander";
import type { CommandContext } from "../../commands/command.ts";
import { at, CommandError } from "../../commands/operator-api.ts";
import {
  cut,
  fields,
  fitted,
  type JsonOption,
  jsonOption,
  type Line,
  listPage,
  pageOptions,
  type PageOptions,
  print,
  table,
} from "../../commands/output.ts";
import { deliveryHeadings, deliveryLine } from "../deliveries/text.ts";
import { LIBRARY_LANGUAGES, type LibraryLanguage } from "../event-types/rules.ts";
import type { PublishedView } from "./publish.ts";
import type { EventTypeView, EventView } from "./work.ts";

interface PublishOptions extends JsonOption {
  organization: string;
  type: string;
  data: string;
  dedupeKey?: string;
  occurredAt?: string;
}

function publishCommand(event: Command, context: CommandContext): void {
  event
    .command("publish")
    .description("publish an event to the subscriptions of an organization that list its type")
    .requiredOption("--organization <organization>", "the event's organization: id or slug")
    .requiredOption("--type <type>", "the event type")
    .requiredOption("--data <json>", "the data: JSON, @file, or @- for standard input")
    .option("--dedupe-key <key>", "publish nothing if an event of the last 24 hours has this key")
    .option("--occurred-at <time>", "when it happened, such as 2026-01-31T00:00:00Z")
    .addOption(jsonOption())
    .action(async ({ data: given, json, ...options }: PublishOptions) => {
      const { organization, type, dedupeKey: dedupe_key, occurredAt: occurred_at } = options;
      const data = requireJson(await textOf(given));
      const rest = JSON.stringify({ organization, type, dedupe_key, occurred_at });
      // Sends the data unchanged. JSON.parse would silently drop faults that the server reports.
      const body = `${rest.slice(0, -1)},"data":${data}}`;
      const published = await context.withOperatorApi(
        (api) => api.postJson<PublishedView>("/events", body),
        { readsEventTypes: true },
      );
      print(context, json ? { json } : {}, published, (one) => sentence(one, type));
    });
}

async function textOf(given: string): Promise<string> {
  if (!given.startsWith("@")) return given;
  const path = given.slice(1);
  try {
    const bytes = path === "-" ? await buffer(process.stdin) : await readFile(path);
    // Otherwise bytes of another encoding would be published as replacement characters.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CommandError(`--data: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function requireJson(written: string): string {
  try {
    JSON.parse(written);
    return written;
  } catch (error) {
    throw new CommandError(`--data must be JSON, @file or @-: ${(error as Error).message}`);
  }
}

function sentence({ event_id, deliveries, duplicate }: PublishedView, type: string): string {
  if (duplicate) return `Not published: ${event_id} has this key.\n`;
  if (deliveries === 0) {
    return `${event_id} is published, with 0 deliveries: no active subscription lists ${type}.\n`;
  }
  return `${event_id} is published, with ${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"}.\n`;
}

function showCommand(event: Command, context: CommandContext): void {
  event
    .command("show <id>")
    .description("show an event with its deliveries")
    .addOption(jsonOption())
    .action(async (id: string, options: JsonOption) => {
      const found = await context.withOperatorApi((api) => api.get<EventView>(at`/events/${id}`));
      print(context, options, found, (event) => showEvent(event, context));
    });
}

function showEvent(event: EventView, options: { isTerminal: boolean }): string {
  const { id, type, organization, occurred_at: occurred, data, deliveries } = event;
  const facts = fields({ id, type, organization, occurred, data: JSON.stringify(data) });
  if (deliveries.length === 0) return `${facts}\nNo deliveries.\n`;
  return `${facts}\n${table(deliveryHeadings, deliveries.map(deliveryLine), options)}`;
}

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
