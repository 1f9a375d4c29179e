import { PartnerError } from "../domain/errors.ts";
import type { DeliveryId } from "../domain/ids.ts";
import { listAttempts } from "../postgres/audit.ts";
import { inSnapshot, type Queryable } from "../postgres/database.ts";
import { findDelivery } from "../postgres/deliveries.ts";
import { findStanding } from "../postgres/subscriptions.ts";
import type { Dependencies } from "./dependencies.ts";
import { type DeliveryDetail, viewAttempt, viewDelivery, viewStanding } from "./views/delivery.ts";

/** Returns a delivery of any organization, with all its attempts and the state of its subscription. */
export async function getDelivery(
  { db }: Pick<Dependencies, "db">,
  id: DeliveryId | null,
): Promise<DeliveryDetail> {
  const found = id === null ? null : await inSnapshot(db, (tx) => findDetail(tx, id));
  if (!found) throw new PartnerError("not_found", "There is no such delivery.");
  const { delivery, standing, attempts } = found;
  return {
    ...viewDelivery(delivery),
    subscription: viewStanding(standing),
    attempt_log: attempts.map((row) => viewAttempt(row)),
  };
}

async function findDetail(tx: Queryable, id: DeliveryId) {
  const delivery = await findDelivery(tx, id);
  const standing = delivery && (await findStanding(tx, delivery.subscription_id));
  return standing && { delivery, standing, attempts: await listAttempts(tx, id) };
}
