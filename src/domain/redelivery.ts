import type { DeliveryState } from "./delivery.ts";

export const REDELIVERY_STATES = ["queued", "running", "paused", "cancelled", "finished"] as const;
export type RedeliveryState = (typeof REDELIVERY_STATES)[number];

/** The states that an operator can ask for. */
export const REDELIVERY_WISHES = ["paused", "running", "cancelled"] as const;
export type RedeliveryWish = (typeof REDELIVERY_WISHES)[number];

/** The states of deliveries that can be sent again by many. Delivered ones only if the filter names that state. */
export const REDELIVERABLE_STATES = ["dead_lettered", "cancelled", "delivered"] as const;
export type RedeliverableState = (typeof REDELIVERABLE_STATES)[number];

export function isRedeliverable(state: DeliveryState): state is RedeliverableState {
  return state !== "waiting";
}

/** The states that a job takes, in its order. */
export function statesOf(state: RedeliverableState | null): RedeliverableState[] {
  return state === null ? ["dead_lettered", "cancelled"] : [state];
}

export const RATE = { default: 50, max: 1_000 };

/** Jobs that are not finished. */
export const UNFINISHED_MAX = 100;

/** How many deliveries one turn of a job writes at most: a quarter of a second's. */
export function batchOf(ratePerSecond: number): number {
  return Math.ceil(ratePerSecond / 4);
}

/** How long a job waits after it has written so many. */
export function pauseMs(written: number, ratePerSecond: number): number {
  return Math.ceil((written * 1_000) / ratePerSecond);
}
