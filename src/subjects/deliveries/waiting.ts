import { noSuch, PartnerError } from "../../lib/errors.ts";
import type { DeliveryId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { findStanding, type Standing } from "../subscriptions/sql.ts";
import type { DeliveryState } from "./rules.ts";
import { type Delivery, findDelivery } from "./sql.ts";
import { makeDue } from "./waiting-sql.ts";

/**
 * Makes a waiting delivery due at once. It stays the same delivery and keeps its number of attempts, and the schedule goes on from
 * the attempt that is made. An attempt in flight is that attempt.
 */
export async function attemptNow(
  { db, clock, nudge }: Pick<Dependencies, "db" | "clock" | "nudge">,
  id: DeliveryId | null,
): Promise<Delivery> {
  const delivery = id === null ? null : await findDelivery(db, id);
  if (!delivery) throw noSuch("delivery");
  const { subscriptionId, organizationId } = delivery;
  if (delivery.state !== "waiting") throw notWaiting(delivery.state);
  requireServed(await findStanding(db, subscriptionId));

  const dueAt = await makeDue(db, delivery.id, clock());
  if (dueAt === null) return attemptNow({ db, clock, nudge }, id); // It has just been finished.
  nudge([{ subscriptionId, organizationId }]);
  return { ...delivery, dueAt };
}

function notWaiting(state: DeliveryState): PartnerError {
  const detail = `The delivery is ${state}: only waiting deliveries can be attempted now.`;
  return new PartnerError("not_waiting", detail);
}

/** Throws unless attempts at this subscription are made. */
export function requireServed(standing: Standing | null): void {
  if (standing?.deletedAt !== null || standing.autoDisabledAt !== null) {
    const detail = "The subscription is not active, so its deliveries are being cancelled.";
    throw new PartnerError("subscription_inactive", detail);
  }
  if (standing.heldAt === null) return;
  const detail = `The subscription has been held since ${standing.heldAt.toISOString()}: release it first.`;
  throw new PartnerError("subscription_held", detail);
}
