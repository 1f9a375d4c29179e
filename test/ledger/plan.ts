/** The size and duration of a run. */
export interface Plan {
  seed: number;
  /** The number of events to accept. */
  events: number;
  /** The time over which events and faults are spread. */
  overMs: number;
  /** The numbers of SIGKILLs, of pauses longer than a lease, and of immediate stops of PostgreSQL. */
  kills: number;
  pauses: number;
  databaseKills: number;
  subscriptions: number;
  /** The workers of each service. SIGKILLs hit them and their parent. Default: 1. */
  workers?: number;
  /** The numbers of events to publish in all ways, and of SIGKILLs of their publishers. Default: 0. */
  published?: number;
  publisherKills?: number;
  /** True to send events until the last fault is over, even beyond the planned number. */
  callsThroughHarm?: boolean;
  /** A longer run has failed. */
  limitMs: number;
}

export const FULL: Omit<Plan, "seed"> = {
  events: 20_000,
  overMs: 120_000,
  kills: 10,
  pauses: 2,
  databaseKills: 3,
  subscriptions: 20,
  published: 8_000,
  publisherKills: 6,
  limitMs: 6 * 60_000,
};

/** A run that fits into the test suite. */
export const SHORT: Omit<Plan, "seed"> = {
  events: 500,
  overMs: 5_000,
  kills: 4,
  pauses: 0,
  databaseKills: 1,
  subscriptions: 8,
  published: 300,
  publisherKills: 2,
  limitMs: 90_000,
};

/** Short times, so that hours of retries pass in seconds. */
export const ATTEMPT_TIMEOUT_MS = 2_000;
export const LEASE_MS = 3 * ATTEMPT_TIMEOUT_MS;
export const RETRY_DELAYS = "1s,1s,2s";
export const ATTEMPTS_MAX = 4;

/** The shares of requests that receivers refuse or break. The others get 200. */
export const REFUSED = 0.1;
export const HUNG = 0.01;
export const RESET = 0.01;

/** How long receivers take to respond. */
export const THOUGHT_MS = { least: 5, most: 200 };
