const WIDTH = 720;
const HEIGHT = 320;
const LEFT = 60;
const RIGHT = 20;
const TOP = 30;
const BOTTOM = 45;
/** Readable on light and dark pages. */
const COLOURS = ["#2f80ed", "#e0662f", "#8a4fbf"];

export interface Line {
  name: string;
  /** One value for each second. */
  values: number[];
}

/** An SVG of values over seconds on a logarithmic scale, with a mark at one moment. */
export function chartOf(
  title: string,
  lines: Line[],
  mark: { second: number; text: string },
): string {
  const seconds = Math.max(...lines.map(({ values }) => values.length)) - 1;
  const all = lines.flatMap(({ values }) => values);
  const [low, high] = [
    Math.floor(Math.log10(Math.min(...all))),
    Math.ceil(Math.log10(Math.max(...all))),
  ];
  const x = (second: number) => LEFT + (second / seconds) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) =>
    TOP + ((high - Math.log10(value)) / (high - low)) * (HEIGHT - TOP - BOTTOM);

  const powers = Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n));
  const rules = powers.map(
    (value) =>
      `<path d="M${LEFT} ${round(y(value))}H${WIDTH - RIGHT}" stroke="#8888" stroke-width="0.5"/>` +
      text(LEFT - 8, y(value) + 4, timeOf(value), "end"),
  );
  const tens = Array.from({ length: Math.floor(seconds / 10) + 1 }, (_, n) => 10 * n);
  const ticks = tens.map((second) =>
    text(x(second), HEIGHT - BOTTOM + 18, `${second} s`, "middle"),
  );
  const drawn = lines.map(({ name, values }, n) => {
    const points = values
      .map((value, second) => `${round(x(second))},${round(y(value))}`)
      .join(" ");
    const colour = COLOURS[n % COLOURS.length] ?? "";
    return (
      `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>` +
      `<rect x="${LEFT + 220 * n}" y="${HEIGHT - 14}" width="12" height="4" fill="${colour}"/>` +
      text(LEFT + 220 * n + 18, HEIGHT - 8, name, "start")
    );
  });
  const marked =
    `<path d="M${round(x(mark.second))} ${TOP}V${HEIGHT - BOTTOM}" stroke="#888" stroke-dasharray="4 3"/>` +
    text(x(mark.second) + 6, TOP + 12, mark.text, "start");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#777">`,
    `<title>${title}</title>`,
    text(LEFT, 18, title, "start"),
    ...rules,
    ...ticks,
    marked,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function timeOf(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
}

function text(x: number, y: number, words: string, anchor: string): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${words}</text>`;
}

function round(value: number): string {
  return value.toFixed(1);
}
