import type { EarlyLeases } from "../postgres/events.ts";
import type { Claim } from "../domain/attempt.ts";

/** Slots that a dispatcher reserves for deliveries while they are published. */
export interface Reservation extends Pick<EarlyLeases, "slots" | "except"> {
  /** Returns the slots and starts these attempts. Call it exactly once. */
  end: (claims: Claim[]) => void;
}

export const NO_SLOTS: Reservation = { slots: 0, except: [], end: () => undefined };

export type { DueSubscription } from "../domain/due-notice.ts";
