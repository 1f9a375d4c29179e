import { PartnerError } from "../domain/errors.ts";
import type { DeliveryId } from "../domain/ids.ts";
import { listAttempts } from "../postgres/audit.ts";
import { findDelivery } from "../postgres/deliveries.ts";
import { findStanding } from "../postgres/subscriptions.ts";
import type { Dependencies } from "./dependencies.ts";
import { type DeliveryDetail, viewAttempt, viewDelivery, viewStanding } from "./views/delivery.ts";

/** A delivery of whichever organization, with all its attempts and what has become of its subscription. */
export async function getDelivery(
  { db }: Pick<Dependencies, "db">,
  id: DeliveryId | null,
): Promise<DeliveryDetail> {
  const delivery = id === null ? null : await findDelivery(db, id);
  const standing = delivery && (await findStanding(db, delivery.subscription_id));
  if (!standing) throw new PartnerError("not_found", "There is no such delivery.");
  const attempts = await listAttempts(db, delivery.id);
  return {
    ...viewDelivery(delivery),
    subscription: viewStanding(standing),
    attempt_log: attempts.map((row) => viewAttempt(row)),
  };
}
