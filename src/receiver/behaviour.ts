import type { Reply } from "./receiver.ts";

/** What a receiver that rehearses failures does about the attempts of each event. */
export interface Behaviour {
  /** The status of its answers; null: it ends the connection instead. */
  status: number | null;
  /** How long it keeps the sender waiting. */
  delayMs: number;
  /** How many attempts of each event meet this before the rest are accepted; Infinity: every one. */
  attempts: number;
}

export const ACCEPTED = { status: 204, delayMs: 0 } as const satisfies Reply;

/** The reply to an attempt; the first of an event is number 1. */
export function replyTo(attempt: number, { status, delayMs, attempts }: Behaviour): Reply {
  return attempt > attempts ? ACCEPTED : { status, delayMs };
}
