import type { EventId, SubscriptionId } from "../../lib/ids.ts";
import type { Claim } from "../deliveries/rules.ts";
import type { EarlyLeases } from "./sql.ts";

export interface Published {
  /** The id of the event. For a duplicate: of the first event. */
  eventId: EventId;
  /** True if nothing was written, because another event has the dedupe key. */
  isDuplicate: boolean;
  /** The subscriptions that get the event, with one delivery each. */
  subscriptionIds: SubscriptionId[];
}

/** Slots that a dispatcher reserves for deliveries while they are published. */
export interface Reservation extends Pick<EarlyLeases, "slots" | "except"> {
  /** Returns the slots and starts these attempts. Call it exactly once. */
  end: (claims: Claim[]) => void;
}

export const NO_SLOTS: Reservation = { slots: 0, except: [], end: () => undefined };
