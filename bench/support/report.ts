import { availableParallelism, cpus, totalmem } from "node:os";
import { type Row, type Unit, verdictOn } from "./row.ts";

const HEAD = ["scenario", "value", "must", "aim", "verdict", "measured"];

/** Formats the rows as a table. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((l) => (l[column] ?? "").length)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

/** The conditions of the measurement. */
export function describeMachine(postgres: string) {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? "unknown",
    memoryMb: Math.round(totalmem() / 1e6),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    postgres,
  };
}

export function inThousands(rate: number): string {
  return Math.round(rate).toLocaleString("en-US");
}

export function inMs(ms: number): string {
  return `${rounded(ms)} ms`;
}

function cellsOf(row: Row): string[] {
  const sign = row.bound === "at least" ? "≥" : "≤";
  return [
    row.scenario,
    row.value === null ? "-" : quantity(row.value, row.unit),
    `${sign} ${quantity(row.must, row.unit)}`,
    `${sign} ${quantity(row.aim, row.unit)}`,
    verdictOn(row),
    row.measured,
  ];
}

function quantity(value: number, unit: Unit): string {
  const text = unit === "/s" ? inThousands(value) : String(rounded(value));
  return /^(ms|µs|MB|B)$/.test(unit) ? `${text} ${unit}` : text + unit;
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
