import { type Fault, rangeFaults } from "./errors.ts";

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
  const faults = rangeFaults("/max_per_second", maxPerSecond, CEILING_MAX);
  return faults.map(({ pointer, detail }) => ({ pointer, detail: `${detail}, or null` }));
}
