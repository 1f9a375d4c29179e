import type { Vetted } from "../egress/index.ts";
import type { BoundedCache } from "../lib/bounded-cache.ts";
import type { Clock } from "../lib/clock.ts";
import type { KeyId, OrganizationId, SubscriptionId } from "../lib/ids.ts";
import type { Database } from "../postgres/database.ts";
import type { DueSubscription } from "../queue/rules.ts";
import type { ActivityLog } from "./activity/log.ts";
import type { Problem } from "./activity/rules.ts";
import type { Cancelling } from "./deliveries/cancellation.ts";
import type { EventTypes } from "./event-types/rules.ts";
import type { Published, Reservation } from "./events/publication.ts";
import type { NewEvent } from "./events/rules.ts";
import type { Presented, PresentedKey } from "./keys/admission-sql.ts";
import type { Proofs } from "./keys/proofs.ts";
import type { OrganizationName } from "./organizations/rules.ts";
import type { Organization } from "./organizations/sql.ts";
import type { KeyRing } from "./secrets/rules.ts";
import type { Rules } from "./subscriptions/rules.ts";
import type { SealedSubscription } from "./subscriptions/sql.ts";

/** The dependencies that the dispatcher and the use cases share. */
export interface Foundations {
  db: Database;
  clock: Clock;
  ring: KeyRing;
  rules: Rules & {
    maxSubscriptions: number;
    leaseMs: number;
    /** The largest concurrency limit of a subscription. Default: the initial one. */
    subscriptionConcurrency?: number;
  };
  cancelling: Cancelling;
  /** The name of the cell. Default: that of the only one. */
  cell?: string;
  /** The slug of the organization that gets the notices. Default: none. */
  platformOrganization?: string | null | undefined;
}

/** Organizations that have used up their rate limits. */
interface Limited {
  /** Organizations without a notice yet, with the time of the refusal. */
  waiting: Map<OrganizationId, Date>;
  /** The time of this process's last notice about an organization. */
  toldAt: BoundedCache<OrganizationId, Date>;
}

/** The inputs of the wiring: access to everything that is not deterministic, and the configured rules. */
export interface Parts extends Foundations {
  /** Returns whether deliveries may go to this URL now, and the addresses of its host. */
  checkDestination: (url: string, organizationId: OrganizationId) => Promise<Vetted>;
  /** How long history is kept. Default: 30 days. */
  retentionMs?: number;
  /** Default: the service's own event types only. */
  eventTypes?: EventTypes;
  /** Observes each write that publishes events. Default: none. */
  noteWrite?: <Result>(write: Promise<Result>) => Promise<Result>;
  /** Where activity is counted. Default: a log that is never written. */
  activity?: ActivityLog;
  /** The faults of this process, as `/readyz` shows them. Default: none. */
  ownProblems?: () => Promise<Problem[]>;
  /** Tells the dispatcher of this process, if there is one, that these subscriptions have something due. */
  nudge: (due: DueSubscription[]) => void;
  /** Reserves free slots of this process's dispatcher, if there is one, for deliveries that are being published for these. */
  reserve: (organizations: ReadonlySet<OrganizationId>) => Reservation;
}

/** A key that admits its request. `ordinal` is the request's number in its organization's window, from 1. */
export interface Admitted {
  key: PresentedKey;
  ordinal: number;
  openedAt: Date;
}

/** A subscription, and the organization that asks for it. Null: an operator. */
export interface SoughtSubscription {
  id: SubscriptionId;
  soughtBy: OrganizationId | null;
}

/** Everything that an action may use besides its arguments. `createDependencies` builds it once. */
export interface Dependencies extends Parts {
  cell: string;
  eventTypes: EventTypes;
  retentionMs: number;
  activity: ActivityLog;
  ownProblems: () => Promise<Problem[]>;
  /** Look-ups and writes of single requests, batched into one statement a tick. */
  batched: {
    /** Null if the key is not valid. */
    admit: (presented: Presented) => Promise<Admitted | null>;
    findSubscription: (sought: SoughtSubscription) => Promise<SealedSubscription | null>;
    /** Resolves when the event is durable. */
    publish: (event: NewEvent) => Promise<Published>;
    /** Publishes all events or none. Each batch has its own statement. */
    publishAll: (events: NewEvent[]) => Promise<Published[]>;
    /** Takes a bare id or a slug. Null if there is none. */
    findOrganization: (name: OrganizationName) => Promise<Organization | null>;
  };
  /** The last use of each key, if it is not yet written. */
  keysUsed: Map<KeyId, Date>;
  limited: Limited;
  proofs: Proofs;
}
