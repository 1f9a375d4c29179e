import type { DeliveryId, LeaseId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";

/** A delivery and its lease. */
export interface Lease {
  id: DeliveryId;
  leaseId: LeaseId;
}

/**
 * Locks the deliveries whose lease is still valid, in one order. Returns each with its lease. This protects against a process
 * that slept, and that may have claimed the delivery again since.
 */
export async function lockHeld(db: Queryable, leases: Lease[]): Promise<Map<DeliveryId, LeaseId>> {
  const rows = await db<{ id: DeliveryId; lease_id: LeaseId }[]>`
    select q.id, q.lease_id
      from unnest(${leases.map((l) => l.id)}::uuid[], ${leases.map((l) => l.leaseId)}::uuid[])
           as l (id, lease_id)
      join waiting_deliveries q on q.id = l.id and q.lease_id = l.lease_id
     order by q.id
       for update of q`;
  return new Map(rows.map((row) => [row.id, row.lease_id]));
}

/** Releases the leases that are still valid, without an attempt. */
export async function releaseLeases(db: Queryable, leases: Lease[], dueAt: Date): Promise<void> {
  await db`
    update waiting_deliveries
       set due_at = ${dueAt}, lease_id = null, leased_until = null, lost_leases = 0
     where id in (
       select q.id
         from unnest(${leases.map((l) => l.id)}::uuid[], ${leases.map((l) => l.leaseId)}::uuid[])
              as l (id, lease_id)
         join waiting_deliveries q on q.id = l.id and q.lease_id = l.lease_id
        order by q.id
          for update of q)`;
}
