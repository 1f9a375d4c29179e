/** A window opens with an organization's first request. */
export const WINDOW_MS = 60_000;

/** The state of an organization's window after one request. */
export interface Allowance {
  passed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number;
}

/** The allowance of the `place`-th request of a window. The first has place 1. */
export function allowanceAt(place: number, limit: number, opened: Date, now: Date): Allowance {
  const leftMs = opened.getTime() + WINDOW_MS - now.getTime();
  return {
    passed: place <= limit,
    limit,
    remaining: Math.max(0, limit - place),
    resetSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
  };
}
