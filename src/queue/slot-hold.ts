/** Thousands of attempts that fail at once, for example at receivers that reset connections, would occupy the thread. */
const UNANSWERED_MS = 100;
/**
 * An attempt holds its slot for up to this part of its time longer. Otherwise attempts that time out together would begin together
 * again, and everybody else would wait for their handshakes.
 */
const SPREAD = 0.1;

export interface SlotHold {
  /** How long an attempt without an answer holds its slot at least, in ms. */
  unansweredMs?: number;
  /** Returns a number from 0 to 1. Default: `Math.random`. */
  random?: () => number;
}

/** Returns how much longer an attempt holds its slot that has ended without an answer, in ms. */
export function heldLongerMs(
  tookMs: number,
  { unansweredMs = UNANSWERED_MS, random = Math.random }: SlotHold,
): number {
  return Math.max(unansweredMs - tookMs, SPREAD * random() * tookMs);
}
