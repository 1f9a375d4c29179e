import type { Database } from "../../src/postgres/database.ts";
import type { Subscription } from "./partners.ts";
import { fillQueue } from "./queue.ts";

const AT_ONCE = 10_000;
const LEASE_MS = 30_000;

/**
 * Leaves dead rows in the queue, as deliveries do that were accepted, claimed and finished. The
 * server's autovacuum removes them as usual.
 */
export async function passThroughQueue(
  db: Database,
  subscriptions: readonly Subscription[],
  count: number,
): Promise<void> {
  const ids = subscriptions.map(({ id }) => id);
  for (let passed = 0; passed < count; passed += AT_ONCE) {
    await fillQueue(db, subscriptions, Math.min(AT_ONCE, count - passed));
    const now = new Date();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    await db`
      update waiting_deliveries set leased_until = ${leasedUntil}, lease_id = gen_random_uuid()
       where subscription_id = any(${ids}::uuid[]) and due_at <= ${now}`;
    await db`
      delete from waiting_deliveries
       where subscription_id = any(${ids}::uuid[]) and leased_until = ${leasedUntil}`;
  }
}
