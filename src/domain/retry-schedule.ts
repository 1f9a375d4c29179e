import { after } from "./clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The delay after the first, second, … failed attempt. A delivery gets one attempt more than there
 * are delays.
 */
export const RETRY_DELAYS_MS: readonly number[] = [
  1 * MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  24 * HOUR_MS,
];

/**
 * The time of the next attempt after `attempts` failed ones, or null if none is left. `ended` is the end of the last attempt. A
 * delivery that was postponed or whose lease was lost was not attempted.
 */
export function retryAt(delaysMs: readonly number[], attempts: number, ended: Date): Date | null {
  const delayMs = delaysMs[attempts - 1];
  return delayMs === undefined ? null : after(ended, delayMs);
}
