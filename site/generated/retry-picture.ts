import { inWords } from "./in-words.ts";
import { type Attempt, attempts } from "./retry-table.ts";

const WIDTH = 330;
const AXIS = 132;
const TOP = 24;
const RADIUS = 13;

/** Draws the retry schedule from top to bottom, so that it fits a phone. Longer delays have longer lines. */
export function retryPicture(): string {
  const all = attempts();
  const steps = placed(all);
  const last = steps.at(-1)?.y ?? TOP;
  const height = last + 76;
  const total = inWords(all.at(-1)?.elapsedMs ?? 0);
  const parts = [
    `<line class="axis" x1="${AXIS}" y1="${TOP}" x2="${AXIS}" y2="${last + 50}"/>`,
    ...steps.flatMap(({ attempt, y, previous }) => [
      ...(previous === null ? [] : [wait(attempt, (previous + y) / 2)]),
      `<circle cx="${AXIS}" cy="${y}" r="${RADIUS}"/>`,
      `<text class="number" x="${AXIS}" y="${y + 4.5}">${attempt.number}</text>`,
      `<text class="elapsed" x="${AXIS + 26}" y="${y + 4.5}">${elapsed(attempt)}</text>`,
    ]),
    `<rect x="${AXIS - 5}" y="${last + 45}" width="10" height="10" rx="2"/>`,
    `<text class="end" x="${AXIS + 26}" y="${last + 54.5}">dead-lettered</text>`,
  ];
  return (
    `<figure class="picture"><svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="retry-title">` +
    `<title id="retry-title">${all.length} attempts over ${total}; the table below has the same data.</title>` +
    `${parts.join("")}</svg></figure>\n`
  );
}

function placed(
  all: readonly Attempt[],
): { attempt: Attempt; y: number; previous: number | null }[] {
  let y = TOP;
  return all.map((attempt, i) => {
    const previous = i === 0 ? null : y;
    // Logarithmic, because 24 hours are 1,440 times as long as a minute.
    if (i > 0) y += Math.round(42 + 6 * Math.log2(attempt.waitMs / 60_000));
    return { attempt, y, previous };
  });
}

function wait({ waitMs }: Attempt, y: number): string {
  return `<text class="wait" x="${AXIS - 26}" y="${y + 4.5}">${inWords(waitMs)}</text>`;
}

function elapsed({ elapsedMs }: Attempt): string {
  return elapsedMs === 0 ? "immediately" : `after ${inWords(elapsedMs)}`;
}
