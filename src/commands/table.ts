import { painter, type Style } from "./paint.ts";
import { printable } from "./printable.ts";

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
