/** The only source of time. Tests pass a clock that they move by hand. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

export function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}

/**
 * The largest allowed difference between a process's clock and the database's. Schedules, leases,
 * rate windows and ceilings depend on it.
 */
export const SKEW_MAX_MS = 5_000;
