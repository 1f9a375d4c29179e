import type {
  AttemptId,
  DeliveryId,
  EventId,
  LeaseId,
  OrganizationId,
  SubscriptionId,
} from "./ids.ts";
import type { Outcome } from "./outcome.ts";

/** A delivery that this process may attempt until the lease ends. */
export interface Claim {
  id: DeliveryId;
  leaseId: LeaseId;
  leasedUntil: Date;
  eventId: EventId;
  type: string;
  subscriptionId: SubscriptionId;
  organizationId: OrganizationId;
  url: string;
  /** The number of earlier attempts. */
  attempts: number;
  lostLeases: number;
  /** The span that published the event. Null: not traced. */
  traceparent: string | null;
  /** Null if no key of the ring opens it. */
  signingSecret: string | null;
  body: Buffer;
}

/** An attempt that has ended. Internal faults and deferrals are no attempts. */
export interface Attempt {
  id: AttemptId;
  claim: Claim;
  outcome: Exclude<Outcome, { kind: "internal-fault" | "deferred" }>;
  startedAt: Date;
  endedAt: Date;
}
