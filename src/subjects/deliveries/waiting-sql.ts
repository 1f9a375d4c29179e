import type { DeliveryId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";

/**
 * Makes a waiting delivery due, unless it is due already. Returns since when it is due, or null if it does not wait. A lease
 * stays as it is, so an attempt in flight stays the only one.
 */
export async function makeDue(db: Queryable, id: DeliveryId, now: Date): Promise<Date | null> {
  const [row] = await db<{ dueAt: Date }[]>`
    update waiting_deliveries set due_at = least(due_at, ${now}) where id = ${id} returning due_at as "dueAt"`;
  return row?.dueAt ?? null;
}
