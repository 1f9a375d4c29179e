import { noSuch } from "../domain/errors.ts";
import type { DeliveryId } from "../domain/ids.ts";
import { listAttempts } from "../postgres/audit.ts";
import { inSnapshot, type Queryable } from "../postgres/database.ts";
import { findDelivery, listRedeliveriesOf } from "../postgres/deliveries.ts";
import { findStanding } from "../postgres/subscriptions.ts";
import type { Dependencies } from "./dependencies.ts";
import { type DeliveryDetail, viewAttempt, viewDelivery, viewStanding } from "./views/delivery.ts";

/** More by hand are hardly ever useful. */
const REDELIVERIES_MAX = 100;

/** Returns a delivery of any organization, with all its attempts, its redeliveries and the state of its subscription. */
export async function getDelivery(
  { db }: Pick<Dependencies, "db">,
  id: DeliveryId | null,
): Promise<DeliveryDetail> {
  const found = id === null ? null : await inSnapshot(db, (tx) => findDetail(tx, id));
  if (!found) throw noSuch("delivery");
  const { delivery, standing, attempts, redeliveries } = found;
  return {
    ...viewDelivery(delivery),
    subscription: viewStanding(standing),
    attempt_log: attempts.map((row) => viewAttempt(row)),
    redeliveries: redeliveries.map((row) => viewDelivery(row)),
  };
}

async function findDetail(tx: Queryable, id: DeliveryId) {
  const delivery = await findDelivery(tx, id);
  const standing = delivery && (await findStanding(tx, delivery.subscriptionId));
  if (!standing) return null;
  const attempts = await listAttempts(tx, id);
  const redeliveries = await listRedeliveriesOf(tx, id, REDELIVERIES_MAX);
  return { delivery, standing, attempts, redeliveries };
}
