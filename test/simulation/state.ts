/** Everything that the contract covers. Times are in milliseconds since the Unix epoch. */
export interface State {
  subscriptions: Record<string, Subscription>;
  deliveries: Record<string, Delivery>;
  /** By delivery, in order. */
  attempts: Record<string, Attempt[]>;
  /** The event of each dedupe key of an organization, and since when. */
  keys: Record<string, { event: string; at: number }>;
}

export interface Subscription {
  organization: string;
  status: "active" | "disabled" | "deleted";
  failures: number;
  disabledAt: number | null;
  /** True while an operator holds it. */
  held: boolean;
}

export interface Delivery {
  event: string;
  subscription: string;
  state: "waiting" | "delivered" | "dead_lettered" | "cancelled";
  attempts: number;
  /** The reason of the last failed attempt. */
  reason: string | null;
  /** Null when finished. */
  due: number | null;
  /** The lease of an attempt that may be in progress. */
  lease: string | null;
  /** The end of the lease, while the delivery waits. */
  until: number | null;
  /** The number of leases in a row without an outcome. */
  lost: number;
}

export interface Attempt {
  number: number;
  httpStatus: number;
  reason: string | null;
  deadLettered: boolean;
  startedAt: number;
  endedAt: number;
  nextAt: number | null;
}

export function emptyState(): State {
  return { subscriptions: {}, deliveries: {}, attempts: {}, keys: {} };
}

/** Returns an item that must exist. */
export function of<Item>(items: Record<string, Item>, id: string): Item {
  const item = items[id];
  if (item === undefined) throw new Error(`unknown id ${id}`);
  return item;
}

export function isActive(state: State, subscription: string): boolean {
  return of(state.subscriptions, subscription).status === "active";
}

/** Returns true if the delivery can be claimed. */
export function isDue({ due, until }: Delivery, now: number): boolean {
  return due !== null && due <= now && (until === null || until <= now);
}

/** The waiting deliveries of a subscription, the most overdue first. */
export function waitingFor({ deliveries }: State, subscription: string): [string, Waiting][] {
  return Object.entries(deliveries)
    .filter((entry): entry is [string, Waiting] => isWaiting(entry[1]))
    .filter(([, delivery]) => delivery.subscription === subscription)
    .sort(([, a], [, b]) => a.due - b.due);
}

export type Waiting = Delivery & { due: number };

export function isWaiting(delivery: Delivery): delivery is Waiting {
  return delivery.due !== null;
}
