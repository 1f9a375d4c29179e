import type { EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Lease } from "../postgres/leases.ts";

/** A delivery that this process may attempt until the lease ends. */
export interface Claim extends Lease {
  leased_until: Date;
  event_id: EventId;
  type: string;
  subscription_id: SubscriptionId;
  organization_id: OrganizationId;
  url: string;
  /** The number of earlier attempts. */
  attempts: number;
  lost_leases: number;
  /** The span that published the event. Null: not traced. */
  traceparent: string | null;
  /** Null if no key of the ring opens it. */
  signingSecret: string | null;
  body: Buffer;
}
