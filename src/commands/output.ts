import { type Command, Option } from "commander";
import { type Page, PAGE_LIMIT } from "../domain/page.ts";
import type { CommandContext } from "./context.ts";
import { printableJson } from "./printable.ts";
import { type Line, table } from "./table.ts";

export interface JsonOption {
  json?: true;
}

export interface PageOptions extends JsonOption {
  limit?: number;
  cursor?: string;
}

export function jsonOption(): Option {
  return new Option("--json", "print JSON in the form of the operator API");
}

/** Adds the options of a list. */
export function pageOptions(command: Command): Command {
  const { max, default: usual } = PAGE_LIMIT;
  const limit = `the number of items, up to ${max} (default: ${usual})`;
  return command
    .option("--limit <n>", limit, wholeNumber)
    .option("--cursor <cursor>", "continue after the previous page")
    .addOption(jsonOption());
}

/** Returns NaN, which every range check refuses, unless the text consists of digits. */
export function wholeNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : NaN;
}

/** Prints `value` as JSON with --json, otherwise as `text` formats it. */
export function print<Value>(
  { stdout }: CommandContext,
  { json }: JsonOption,
  value: Value,
  text: (value: Value) => string,
): void {
  stdout(json ? `${printableJson(JSON.stringify(value, null, 2))}\n` : text(value));
}

/** In the answer of a gateway: the cells that did not answer. */
interface Lacking {
  unreachable: string[];
}

interface Shape<Item> {
  headings: string[];
  line: (item: Item) => Line;
  /** Printed if there are no items. */
  empty: string;
}

/** Reads one page of a list and prints it. All options but `--json` are the query. */
export async function listPage<Item>(
  context: CommandContext,
  path: string,
  options: PageOptions,
  shapeOf: (items: Item[]) => Shape<Item>,
  reading?: { readsEventTypes: boolean },
): Promise<void> {
  const query = { ...options, json: undefined };
  const page = await context.withOperatorApi(
    (api) => api.get<Page<Item> & Partial<Lacking>>(path, query),
    reading,
  );
  const { next_cursor: cursor, unreachable: away = [] } = page;
  const { headings, line, empty } = shapeOf(page.items);
  const none = away.length === 0 ? `${empty}\n` : ""; // They may be in the missing cell.
  print(context, options, page, ({ items }) =>
    items.length === 0 ? none : table(headings, items.map(line), context),
  );
  if (options.json) return;
  if (away.length > 0) {
    context.stderr(`No answer from cell ${away.join(", ")}: its items are missing.\n`);
  }
  if (cursor !== null) context.stderr(`More results: add --cursor ${cursor}\n`);
}
