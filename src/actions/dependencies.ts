import type { Clock } from "../domain/clock.ts";
import type { EventTypes } from "../domain/event-types.ts";
import type { KeyRing } from "../domain/sealed-secret.ts";
import type { Problem } from "../domain/overview.ts";
import type { Rules } from "../domain/subscription.ts";
import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Database } from "../postgres/database.ts";
import type { ActivityLog } from "./activity-log.ts";
import type { OrganizationName, OrganizationRow } from "../postgres/organizations.ts";
import type { SealedSubscriptionRow } from "../postgres/subscriptions.ts";
import type { BoundedCache } from "../lib/bounded-cache.ts";
import type { Admitted, Presented } from "./admitted.ts";
import type { Cancelling } from "./cancellation.ts";
import type { Vetted } from "./destination.ts";
import type { NewEvent, Published } from "./new-event.ts";
import type { Proofs } from "./proofs.ts";
import type { DueSubscription, Reservation } from "./reservation.ts";

/** What the dispatcher and the actions share. */
export interface Foundations {
  db: Database;
  clock: Clock;
  ring: KeyRing;
  rules: Rules & { maxSubscriptions: number; leaseMs: number };
  cancelling: Cancelling;
  /** The slug of the organization that is told of the others. Default: none is. */
  platformOrganization?: string | null | undefined;
}

/** Organizations that have used up their rate limits. */
export interface Limited {
  /** Of which the platform is to be told, and since when. */
  waiting: Map<OrganizationId, Date>;
  /** When this process last told of one. */
  toldAt: BoundedCache<OrganizationId, Date>;
}

/** What the wiring brings: the doors to everything that is not deterministic, and the configured rules. */
export interface Parts extends Foundations {
  /** Whether deliveries could go to this URL now, and to which addresses. */
  checkDestination: (url: string, organizationId: OrganizationId) => Promise<Vetted>;
  /** How long history is kept. Default: 30 days. */
  retentionMs?: number;
  /** Default: the service's own alone. */
  eventTypes?: EventTypes;
  /** Sees the outcome of what publishes events. Default: nobody does. */
  noteWrite?: <Result>(write: Promise<Result>) => Promise<Result>;
  /** Where activity is counted. Default: a log that nobody writes down. */
  activity?: ActivityLog;
  /** What is wrong with this process, as `/readyz` tells it. Default: nothing. */
  ownProblems?: () => Promise<Problem[]>;
  /** Tells the dispatcher of this process, if it has one, that these subscriptions have something due. */
  nudge: (due: DueSubscription[]) => void;
  /** Sets aside free slots of this process's dispatcher, if it has one, for deliveries that are being published. */
  reserve: () => Reservation;
}

/** Everything an action may reach besides its arguments. Built once, by `createDependencies`. */
export interface Dependencies extends Parts {
  eventTypes: EventTypes;
  retentionMs: number;
  activity: ActivityLog;
  ownProblems: () => Promise<Problem[]>;
  /** Look-ups and writes of single requests, gathered for a tick into one statement. */
  gathered: {
    /** Null when the key lets nobody in. */
    admit: (presented: Presented) => Promise<Admitted | null>;
    findSubscription: (id: SubscriptionId) => Promise<SealedSubscriptionRow | null>;
    /** Resolves once the event is durable. */
    publish: (event: NewEvent) => Promise<Published>;
    /** The same of all or nothing. A batch has a statement of its own. */
    publishAll: (events: NewEvent[]) => Promise<Published[]>;
    /** By bare id or by slug. Null if absent. */
    findOrganization: (name: OrganizationName) => Promise<OrganizationRow | null>;
  };
  /** When each key was last used, as far as that is not written yet. */
  keysUsed: Map<string, Date>;
  limited: Limited;
  proofs: Proofs;
}
