/** How much is done to the service in one run, and in what time. */
export interface Plan {
  seed: number;
  /** Events that have to get their 200. */
  events: number;
  /** The events and the faults are spread over so long. */
  overMs: number;
  /** Services ended with SIGKILL, services stopped for longer than a lease, PostgreSQL ended at once. */
  kills: number;
  pauses: number;
  databaseKills: number;
  subscriptions: number;
  /** A run that takes longer has failed. */
  limitMs: number;
}

export const FULL: Omit<Plan, "seed"> = {
  events: 20_000,
  overMs: 120_000,
  kills: 10,
  pauses: 2,
  databaseKills: 3,
  subscriptions: 20,
  limitMs: 6 * 60_000,
};

/** As much as fits into a run of all tests. */
export const SHORT: Omit<Plan, "seed"> = {
  events: 500,
  overMs: 5_000,
  kills: 4,
  pauses: 0,
  databaseKills: 1,
  subscriptions: 8,
  limitMs: 90_000,
};

/** The rules that the services run under: all that takes hours is over in seconds. */
export const ATTEMPT_TIMEOUT_MS = 2_000;
export const LEASE_MS = 3 * ATTEMPT_TIMEOUT_MS;
export const RETRY_DELAYS = "1s,1s,2s";
export const ATTEMPTS_MAX = 4;

/** What receivers do to a request, as shares of all. The others are answered 200. */
export const REFUSED = 0.1;
export const HUNG = 0.01;
export const RESET = 0.01;

/** How long receivers think about it. */
export const THOUGHT_MS = { least: 5, most: 200 };
