/** The one door through which time comes in. Tests hold a clock of their own and move it by hand. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** `ms` milliseconds after `date`. */
export function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}

/** How far a process's clock may lie from the database's: schedules, leases and rate windows are told by it. */
export const SKEW_MAX_MS = 5_000;
