import type { DeliveryState } from "../deliveries/rules.ts";

export const REDELIVERY_STATES = ["queued", "running", "paused", "cancelled", "finished"] as const;
export type RedeliveryState = (typeof REDELIVERY_STATES)[number];

/** The states that operators can request. */
export const REQUESTED_STATES = ["paused", "running", "cancelled"] as const;
export type RequestedState = (typeof REQUESTED_STATES)[number];

/** The states of deliveries that a job can send again. Delivered ones are sent again only if the filter names that state. */
export const REDELIVERABLE_STATES = ["dead_lettered", "cancelled", "delivered"] as const;
export type RedeliverableState = (typeof REDELIVERABLE_STATES)[number];

export function isRedeliverable(state: DeliveryState): state is RedeliverableState {
  return state !== "waiting";
}

/** Returns the states that a redelivery takes, in order. */
export function statesOf(state: RedeliverableState | null): RedeliverableState[] {
  return state === null ? ["dead_lettered", "cancelled"] : [state];
}

export const RATE = { default: 50, max: 1_000 };

/**
 * What a job does with the deliveries: sends finished ones again, makes waiting ones due, or cancels waiting ones. Nobody waits for a
 * cancellation, so it is as fast as a job may be.
 */
export const ACTIONS = ["redeliver", "attempt_now", "cancel"] as const;
export type Action = (typeof ACTIONS)[number];

export function defaultRateOf(action: Action): number {
  return action === "cancel" ? RATE.max : RATE.default;
}

/** The largest number of unfinished jobs. */
export const UNFINISHED_MAX = 100;

/** The largest number of deliveries that one run of a job writes: a quarter of a second's. */
export function batchOf(ratePerSecond: number): number {
  return Math.ceil(ratePerSecond / 4);
}

/** How long a job waits after it wrote this many. */
export function pauseMs(written: number, ratePerSecond: number): number {
  return Math.ceil((written * 1_000) / ratePerSecond);
}
