import type { Reply } from "./receiver.ts";

/** How a receiver that simulates failures treats the attempts of each event. */
export interface Behaviour {
  /** The status of the response. Null: close the connection without one. */
  status: number | null;
  /** The time before the response. */
  delayMs: number;
  /** How many attempts of each event are treated so before the rest are accepted. May be Infinity. */
  attempts: number;
}

export const ACCEPTED = { status: 204, delayMs: 0 } as const satisfies Reply;

/** The reply to an attempt. The first attempt of an event is number 1. */
export function replyTo(attempt: number, { status, delayMs, attempts }: Behaviour): Reply {
  return attempt > attempts ? ACCEPTED : { status, delayMs };
}
