import { type Command, Option } from "commander";
import { parseDuration, readTimestamp } from "../lib/duration.ts";
import { type Page, PAGE_LIMIT } from "../lib/page.ts";
import { printable, printableJson } from "../lib/printable.ts";
import type { DeliveryState } from "../subjects/deliveries/rules.ts";
import type { ProcessState } from "../subjects/processes/rules.ts";
import type { CommandContext } from "./command.ts";

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

export type Style = keyof typeof STYLES;

/** Colours a text if the output is a terminal. */
export type Paint = (style: Style, text: string) => string;

export function painter({ isTerminal }: { isTerminal: boolean }): Paint {
  if (!isTerminal) return (_, text) => text;
  return (style, text) => {
    const [on, off] = STYLES[style];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}

/** A row of a table. `note` is printed below it and may be long. */
export interface Line {
  cells: string[];
  note?: string;
  /** How cells look on a terminal, by column. */
  styles?: Partial<Record<number, Style>>;
}

const GAP = "  ";

/** Formats columns with headings, which are bold on a terminal. */
export function table(
  headings: string[],
  lines: Line[],
  { isTerminal }: { isTerminal: boolean },
): string {
  const rows = [headings, ...lines.map((line) => line.cells.map(printable))];
  const widths = headings.map((_, i) => Math.max(...rows.map((cells) => cells[i]?.length ?? 0)));
  const paint = painter({ isTerminal });
  const aligned = rows.map((cells, row) =>
    cells
      .map((cell, i) => {
        const style = lines[row - 1]?.styles?.[i];
        const room = " ".repeat((widths[i] ?? 0) - cell.length);
        return (style === undefined ? cell : paint(style, cell)) + room;
      })
      .join(GAP)
      .trimEnd(),
  );

  const [head = "", ...body] = aligned;
  const noted = body.map((text, i) => {
    const note = lines[i]?.note;
    return note === undefined ? text : `${text}\n${GAP}${printable(note)}`;
  });
  return [paint("bold", head), ...noted].map((s) => `${s}\n`).join("");
}

/** Formats fields, one per line. `paints` changes how values look, not their text. */
export function fields(
  entries: Record<string, string>,
  paints: Record<string, (text: string) => string> = {},
): string {
  const width = Math.max(...Object.keys(entries).map((name) => name.length));
  return Object.entries(entries)
    .map(([name, value]) => {
      const shown = printable(value);
      return `${name.padEnd(width)}${GAP}${paints[name]?.(shown) ?? shown}\n`;
    })
    .join("");
}

/** A name for a column of `max` characters. A longer one is cut, and stands below in full. */
export function fitted(name: string, max: number): { cell: string; note?: string } {
  return name.length <= max ? { cell: name } : { cell: cut(name, max), note: name };
}

/** Shortens a text to at most `max` characters. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** Formats a time in UTC, to the minute. */
export function shortTime(iso: string | null): string {
  return iso === null ? "-" : `${iso.slice(0, 10)} ${iso.slice(11, 16)}Z`;
}

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
  /** Printed first. */
  before?: string;
}

/** Reads one page of a list and prints it. All options but `--json` are the query. */
export async function listPage<Item>(
  context: CommandContext,
  path: string,
  options: PageOptions,
  shapeOf: (items: Item[], page: Page<Item>) => Shape<Item>,
  reading?: { readsEventTypes: boolean },
): Promise<void> {
  const query = { ...options, json: undefined };
  const page = await context.withOperatorApi(
    (api) => api.get<Page<Item> & Partial<Lacking>>(path, query),
    reading,
  );
  const { next_cursor: cursor, unreachable: away = [] } = page;
  const { headings, line, empty, before = "" } = shapeOf(page.items, page);
  const nothing = cursor === null ? empty : "None among those that were searched so far.";
  const none = away.length === 0 ? `${nothing}\n` : ""; // They may be in the missing cell.
  print(
    context,
    options,
    page,
    ({ items }) => before + (items.length === 0 ? none : table(headings, items.map(line), context)),
  );
  if (options.json) return;
  if (away.length > 0) {
    context.stderr(`No answer from cell ${away.join(", ")}: its items are missing.\n`);
  }
  const more = page.items.length === 0 ? "Search on" : "More results";
  if (cursor !== null) context.stderr(`${more}: add --cursor ${cursor}\n`);
}

export const SPAN_RULE = "1h, 7d, or a time such as 2026-01-31T00:00:00Z";

/**
 * Returns the moment that `1h` ago was. Returns any other text unchanged, because the server reads times and refuses the rest.
 */
export function momentOf(text: string | undefined, now: Date): string | undefined {
  const ms = text === undefined ? null : parseDuration(text);
  if (ms === null) return text;
  const moment = new Date(now.getTime() - ms);
  const iso = Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
  return readTimestamp(iso) === null ? text : iso;
}

/** How states look on a terminal. */
export const DELIVERY_STYLES = {
  waiting: "dim",
  delivered: "green",
  dead_lettered: "red",
  cancelled: "yellow",
} as const satisfies Record<DeliveryState, Style>;

export const PROCESS_STYLES = {
  running: "green",
  stopping: "yellow",
  gone: "red",
} as const satisfies Record<ProcessState, Style>;

export const SUBSCRIPTION_STYLES = { active: "green", held: "yellow", disabled: "red" } as const;

/** Aborts when the reader of our output has ended, as after `| head -1`. */
const unread = new AbortController();

export function noteUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") {
    process.stderr.write(
      `error: cannot write to standard output (${error.code ?? error.message})\n`,
    );
    process.exit(1);
  }
  unread.abort(error);
}

/** Runs `show` until a signal, or until the reader of our output has ended. The latter is no error. */
export async function whileRead(show: (stop: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await show(AbortSignal.any([stopSignal(), unread.signal]));
  } catch (error) {
    if (!unread.signal.aborted) throw error;
  }
}

/** Aborts at the first signal. The listeners of the signal clean up. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => stop.abort(new Error(`the command was ended by ${signal}`)));
  }
  return stop.signal;
}

/** The longest line, unless a word is longer. */
const WIDTH = 120;

/** Breaks a text between words, and indents the further lines. Its first `invisible` characters only colour it. */
export function wrap(text: string, indent: string, invisible = 0): string {
  const lines = [""];
  let room = WIDTH + invisible;
  for (const word of text.split(/(?<= )/)) {
    const last = lines.at(-1) ?? "";
    if (last.length + word.trimEnd().length <= room) lines[lines.length - 1] = last + word;
    else {
      lines.push(indent + word);
      room = WIDTH;
    }
  }
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
