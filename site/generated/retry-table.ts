import { RETRY_DELAYS_MS } from "../../src/subjects/deliveries/rules.ts";
import { inWords } from "./in-words.ts";

/** The retry schedule as a table: each attempt with its delay and the total time. */
export function retryTable(): string {
  const rows = attempts().map(
    ({ number, waitMs, elapsedMs }) =>
      `| ${number} | ${waitMs === 0 ? "none" : inWords(waitMs)} | ${elapsedMs === 0 ? "0" : inWords(elapsedMs)} |`,
  );
  return ["| attempt | delay | time since the first |", "|---|---|---|", ...rows].join("\n") + "\n";
}

export interface Attempt {
  number: number;
  /** After the end of the previous attempt. */
  waitMs: number;
  /** Since the first attempt, without the duration of attempts. */
  elapsedMs: number;
}

export function attempts(): Attempt[] {
  let elapsedMs = 0;
  return [0, ...RETRY_DELAYS_MS].map((waitMs, i) => {
    elapsedMs += waitMs;
    return { number: i + 1, waitMs, elapsedMs };
  });
}
