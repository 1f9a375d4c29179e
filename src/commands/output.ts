import { Option } from "commander";
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

export function limitOption(): Option {
  const { max, default: usual } = PAGE_LIMIT;
  return new Option(
    "--limit <n>",
    `the number of items, up to ${max} (default: ${usual})`,
  ).argParser(wholeNumber);
}

/** The query of a list. */
export function pageOf({ limit, cursor }: PageOptions) {
  return { limit, cursor };
}

/** Returns NaN, which every range check refuses, unless the text consists of digits. */
export function wholeNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : NaN;
}

export function cursorOption(): Option {
  return new Option("--cursor <cursor>", "continue after the previous page");
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

/** Prints one page of a list, or `empty` if it has no items. */
export function printPage<Item>(
  context: CommandContext,
  options: JsonOption,
  page: Page<Item>,
  { headings, line, empty }: { headings: string[]; line: (item: Item) => Line; empty: string },
): void {
  const { next_cursor: cursor, unavailable_shards: away = [] } = page;
  const none = away.length === 0 ? `${empty}\n` : ""; // They may be in the missing shard.
  print(context, options, page, ({ items }) =>
    items.length === 0
      ? none
      : table(
          headings,
          items.map((item) => line(item)),
          context,
        ),
  );
  if (options.json) return;
  if (away.length > 0) {
    context.stderr(`No answer of shard ${away.join(", ")}: its items are missing.\n`);
  }
  if (cursor !== null) context.stderr(`More results: add --cursor ${cursor}\n`);
}
