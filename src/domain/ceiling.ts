import type { Fault } from "./errors.ts";

export const CEILING_MAX = 10_000;

/** A token bucket: how many attempts of one subscription may begin. */
export interface Ceiling {
  maxPerSecond: number;
  /** The tokens of a full bucket. */
  burst: number;
  /** When the bucket is full again. */
  fullAt: Date;
  /** The tokens that are available now. */
  tokens: number;
}

/** The tokens of a tenth of a second, so that attempts spread over the second. */
export function burstOf(maxPerSecond: number): number {
  return Math.ceil(maxPerSecond / 10);
}

/** Returns the time until the bucket is half full, after all its tokens were taken. */
export function refillMs({ maxPerSecond, burst, fullAt, tokens }: Ceiling, now: Date): number {
  const spentMs = Math.max(0, fullAt.getTime() - now.getTime());
  const taken = Math.max(0, tokens) - Math.floor(burst / 2);
  return Math.max(0, Math.floor(spentMs + (taken * 1000) / maxPerSecond)) + 1;
}

export function ceilingFaults(maxPerSecond: number | null): Fault[] {
  if (maxPerSecond === null) return [];
  const isValid =
    Number.isInteger(maxPerSecond) && maxPerSecond >= 1 && maxPerSecond <= CEILING_MAX;
  const detail = `must be an integer from 1 to ${CEILING_MAX}, or null`;
  return isValid ? [] : [{ pointer: "/max_per_second", detail }];
}
