import { RETRY_DELAYS_MS } from "../../src/domain/retry-schedule.ts";
import { inWords } from "./in-words.ts";

/** The schedule as a table: each attempt, how long it waits for the one before, and how long that is in all. */
export function retryTable(): string {
  const rows = attempts().map(
    ({ number, waitMs, elapsedMs }) =>
      `| ${number} | ${waitMs === 0 ? "at once" : inWords(waitMs)} | ${elapsedMs === 0 ? "0" : inWords(elapsedMs)} |`,
  );
  return ["| attempt | waits | since the first |", "|---|---|---|", ...rows].join("\n") + "\n";
}

export interface Attempt {
  number: number;
  /** After the end of the attempt before. */
  waitMs: number;
  /** Since the first, if attempts took no time. */
  elapsedMs: number;
}

export function attempts(): Attempt[] {
  let elapsedMs = 0;
  return [0, ...RETRY_DELAYS_MS].map((waitMs, i) => {
    elapsedMs += waitMs;
    return { number: i + 1, waitMs, elapsedMs };
  });
}
