import { Option } from "commander";
import { type Page, PAGE_LIMIT } from "../domain/page.ts";
import type { CommandContext } from "./context.ts";
import { type Line, table } from "./table.ts";

export interface JsonOption {
  json?: true;
}

export interface PageOptions extends JsonOption {
  limit?: number;
  cursor?: string;
}

export function jsonOption(): Option {
  return new Option("--json", "answer with one JSON document, as the operator API does");
}

export function limitOption(): Option {
  const { max, default: usual } = PAGE_LIMIT;
  return new Option("--limit <n>", `how many to show, up to ${max} (default: ${usual})`).argParser(
    wholeNumber,
  );
}

/** NaN, which every range excludes, for what is not written in digits alone. */
export function wholeNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : NaN;
}

export function cursorOption(): Option {
  return new Option("--cursor <cursor>", "go on where the page before ended");
}

/** Prints `value` for programs, or `text` of it for people. */
export function answer<Value>(
  { stdout }: CommandContext,
  { json }: JsonOption,
  value: Value,
  text: (value: Value) => string,
): void {
  stdout(json ? `${JSON.stringify(value, null, 2)}\n` : text(value));
}

/** Prints one page of a list; `empty` is what to say of a list without items. */
export function answerPage<Item>(
  context: CommandContext,
  options: JsonOption,
  page: Page<Item>,
  { headings, line, empty }: { headings: string[]; line: (item: Item) => Line; empty: string },
): void {
  answer(context, options, page, ({ items }) =>
    items.length === 0
      ? `${empty}\n`
      : table(
          headings,
          items.map((item) => line(item)),
          context,
        ),
  );
  if (page.next_cursor !== null && !options.json) {
    context.stderr(`There are more: add --cursor ${page.next_cursor}\n`);
  }
}
