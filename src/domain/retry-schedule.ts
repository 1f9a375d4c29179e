import { after } from "./clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Delay after the first, second, … failed attempt. Its length fixes how often we try. */
export const RETRY_DELAYS_MS: readonly number[] = [
  1 * MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  24 * HOUR_MS,
];

/** When to try again after `attempts` failed attempts, the last of which ended at `ended`; null when there is no next time. */
export function retryAt(delaysMs: readonly number[], attempts: number, ended: Date): Date | null {
  const delayMs = delaysMs[attempts - 1];
  return delayMs === undefined ? null : after(ended, delayMs);
}
