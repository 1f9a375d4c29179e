/** Everything that the contract speaks of, at one moment. Times are milliseconds since 1970. */
export interface State {
  subscriptions: Record<string, Subscription>;
  deliveries: Record<string, Delivery>;
  /** By delivery, the first attempt first. */
  attempts: Record<string, Attempt[]>;
}

export interface Subscription {
  organization: string;
  status: "active" | "disabled" | "deleted";
  failures: number;
  disabledAt: number | null;
}

export interface Delivery {
  event: string;
  subscription: string;
  state: "waiting" | "delivered" | "dead_lettered" | "cancelled";
  attempts: number;
  /** Of the last failed attempt. */
  reason: string | null;
  /** Null once it is finished. */
  due: number | null;
  /** Under which an attempt may be under way. */
  lease: string | null;
  /** When that ends, as far as it waits. */
  until: number | null;
  /** Leases in a row that ended without an outcome. */
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
  return { subscriptions: {}, deliveries: {}, attempts: {} };
}

/** One that must be there. */
export function of<Item>(items: Record<string, Item>, id: string): Item {
  const item = items[id];
  if (item === undefined) throw new Error(`nothing has the id ${id}`);
  return item;
}

export function isActive(state: State, subscription: string): boolean {
  return of(state.subscriptions, subscription).status === "active";
}

/** Whether it can be claimed. */
export function isDue({ due, until }: Delivery, now: number): boolean {
  return due !== null && due <= now && (until === null || until <= now);
}

/** What waits for a subscription, by id, the most overdue first. */
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
