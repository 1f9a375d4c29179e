import { PartnerError, noSuch } from "../domain/errors.ts";
import { type DeliveryId, type SubscriptionId, timeOrderedId } from "../domain/ids.ts";
import { type Delivery, findDelivery } from "../postgres/deliveries.ts";
import { insertRedeliveries, lockFinished } from "../postgres/redelivery-marks.ts";
import { findSubscriptions } from "../postgres/subscriptions.ts";
import type { Dependencies } from "./dependencies.ts";

/**
 * Sends the event of a dead-lettered or cancelled delivery again, as a new delivery with attempts of its own. It goes to the
 * same subscription, or to the organization's subscription `to` (null: an id that cannot exist).
 */
export async function redeliver(
  { db, clock, nudge }: Pick<Dependencies, "db" | "clock" | "nudge">,
  deliveryId: DeliveryId | null,
  to?: SubscriptionId | null,
): Promise<Delivery> {
  const delivery = deliveryId === null ? null : await findDelivery(db, deliveryId);
  if (!delivery) throw noSuch("delivery");

  const subscriptionId = to === undefined ? delivery.subscriptionId : to;
  const wanted = subscriptionId === null ? [] : [subscriptionId];
  const [subscription] = await findSubscriptions(db, wanted);
  const isForeign = subscription?.organizationId !== delivery.organizationId;
  if (isForeign && to !== undefined) throw noSuch("subscription");

  if (delivery.state !== "dead_lettered" && delivery.state !== "cancelled") {
    throw new PartnerError(
      "not_redeliverable",
      `The delivery is ${delivery.state}: only dead-lettered and cancelled deliveries can be redelivered.`,
    );
  }
  if (isForeign || subscription.autoDisabledAt !== null) throw inactive();

  const now = clock();
  const id = timeOrderedId(now);
  const { finishedAt, eventId } = delivery;
  const isMade = await db.begin(async (tx) => {
    if (finishedAt) await lockFinished(tx, [{ id: delivery.id, finishedAt }]);
    const row = { deliveryId: delivery.id, redeliveryId: id, eventId };
    const made = await insertRedeliveries(tx, [row], { to: subscription.id, job: null, now });
    return made.length === 1;
  });
  if (!isMade)
    throw new PartnerError("not_redeliverable", "The event is older than the retention period.");

  nudge([{ subscriptionId: subscription.id, organizationId: subscription.organizationId }]);
  return {
    ...delivery,
    id,
    subscriptionId: subscription.id,
    url: subscription.url,
    redeliveryOf: delivery.id,
    redeliveredAs: null,
    state: "waiting",
    attempts: 0,
    lastReason: null,
    createdAt: now,
    dueAt: now,
    finishedAt: null,
  };
}

export function inactive(): PartnerError {
  const detail = "The subscription is not active: name an active one.";
  return new PartnerError("subscription_inactive", detail);
}
