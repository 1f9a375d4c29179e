import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { THEME_CHANGED } from "../components/theme-choice.tsx";
import { drawMarks, type Mark } from "./marks.ts";

export interface Series {
  label: string;
  /** The name of the colour among the tokens. */
  colour: string;
  values: (number | null)[];
  /** The legend's values of a series that stands on another. Default: its values. */
  told?: (number | null)[];
  shape?: "bars" | "line" | "dashed";
}

interface Props {
  title: string;
  /** In seconds, ascending. */
  times: number[];
  /** Painted in this order. */
  series: Series[];
  format: (value: number | null) => string;
  marks?: Mark[];
  /** Describes the chart for readers who do not see it. */
  summary: string;
}

/** A chart over time. Its legend shows the values under the pointer. */
export function Chart({ title, times, series, format, marks = [], summary }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shownMarks = useRef(marks);
  shownMarks.current = marks;
  const [pointed, setPointed] = useState<number | null>(null);
  const [theme, setTheme] = useState(0);
  const shape = series.map(({ label, colour, shape }) => `${label} ${colour} ${shape}`).join();
  const data: uPlot.AlignedData = [times, ...series.map(({ values }) => values)];

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(
      options(element, series, format, {
        marks: () => shownMarks.current,
        onPoint: setPointed,
      }),
      data,
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
    // Data and marks are set below, without making the chart again.
  }, [shape, theme]);

  useEffect(() => {
    plot.current?.setData(data);
  }, [times, series, marks]);

  useEffect(() => {
    const again = () => setTheme((before) => before + 1);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    window.addEventListener(THEME_CHANGED, again);
    dark.addEventListener("change", again);
    return () => {
      window.removeEventListener(THEME_CHANGED, again);
      dark.removeEventListener("change", again);
    };
  }, []);

  return (
    <figure class="chart" aria-label={title}>
      <div ref={place} class="chart-plot" role="img" aria-label={summary} />
      <figcaption class="legend" aria-hidden="true">
        {series.map(({ label, colour, shape = "line", values, told = values }) => (
          <span class="key" key={label}>
            <span
              class={`swatch ${shape === "bars" ? "" : shape}`}
              style={{ "--series": `var(--${colour})` }}
            />
            {label}
            {pointed !== null && <strong>{format(told[pointed] ?? null)}</strong>}
          </span>
        ))}
        {pointed !== null && times[pointed] !== undefined && (
          <strong>{new Date(times[pointed] * 1000).toLocaleString(undefined, POINTED)}</strong>
        )}
      </figcaption>
    </figure>
  );
}

const POINTED = { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

function options(
  element: HTMLElement,
  series: Series[],
  format: (value: number | null) => string,
  { marks, onPoint }: { marks: () => Mark[]; onPoint: (index: number | null) => void },
): uPlot.Options {
  const colourOf = (name: string) => resolveColour(element, name);
  const axis = {
    stroke: colourOf("quiet"),
    font: `12px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: colourOf("line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
    scales: {
      // Half a step more on both sides, so that the first and the last bar are whole.
      x: { range: (plot, first, last) => [first - stepOf(plot) / 2, last + stepOf(plot) / 2] },
      y: { range: (_plot, _low, high) => [0, niceMaximum(high)] },
    },
    axes: [
      { ...axis, size: 30, grid: { show: false }, values: clockTimes },
      {
        ...axis,
        size: (_plot, values) => widthOf(values),
        splits: (_plot, _axis, _low, high) => [0, high / 4, high / 2, (high * 3) / 4, high],
        values: (_plot, splits) => splits.map((value) => format(value)),
      },
    ],
    series: [{}, ...series.map((one) => painted(one, colourOf(one.colour)))],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      draw: [(plot) => drawMarks(plot, marks(), colourOf)],
    },
  };
}

function painted({ label, shape = "line" }: Series, colour: string): uPlot.Series {
  if (shape === "bars") {
    const paths = uPlot.paths.bars?.({ size: [0.8, 24], gap: 1, radius: 0.1 });
    return {
      label,
      fill: colour,
      width: 0,
      points: { show: false },
      ...(paths ? { paths } : {}),
    };
  }
  return {
    label,
    stroke: colour,
    width: 2,
    points: { show: false, filter: lonely },
    spanGaps: false,
    ...(shape === "dashed" ? { dash: [5, 4] } : {}),
  };
}

/** A line has two ends. A value without neighbours is a point. */
const lonely: uPlot.Series.Points.Filter = ({ data }, series) => {
  const values = data[series] ?? [];
  const isThere = (index: number) => typeof values[index] === "number";
  return [...values.keys()].filter((i) => isThere(i) && !isThere(i - 1) && !isThere(i + 1));
};

function stepOf({ data: [times] }: uPlot): number {
  return (times[1] ?? 0) - (times[0] ?? 0);
}

/** A canvas knows no variables. Their values are read from an element that uses them. */
function resolveColour(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Quarters of these, times a power of ten, are round. */
const ROUND = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10];

/** The least round number that is no lower. */
function niceMaximum(high: number | null): number {
  if (high === null || high <= 0) return 4;
  const power = 10 ** Math.floor(Math.log10(high));
  const step = ROUND.find((factor) => factor * power >= high) ?? 10;
  return Math.max(4, step * power);
}

const CHARACTER_PX = 7;
const GAP_PX = 14;

/** The room of an axis for its longest number. It has none before the first data. */
function widthOf(texts: string[] | null): number {
  return GAP_PX + CHARACTER_PX * Math.max(1, ...(texts ?? []).map(({ length }) => length));
}

const HOURS = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const DAYS = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric" });

function clockTimes(_plot: uPlot, splits: number[]): string[] {
  return splits.map((seconds) => {
    const at = new Date(seconds * 1000);
    return at.getHours() === 0 && at.getMinutes() === 0 ? DAYS.format(at) : HOURS.format(at);
  });
}
