import type { Clock } from "../../lib/clock.ts";
import type { OrganizationId, SubscriptionId } from "../../lib/ids.ts";
import { ActivityCounts, type ActivityKind, MINUTE_MS, periodAt, SERVICE_SCOPE } from "./rules.ts";

/** The counts of this process for one scope in one minute. */
export interface ActivityEntry {
  kind: ActivityKind;
  scope: string;
  at: Date;
  counts: ActivityCounts;
  /** True if it has changed since it was last written. */
  isChanged: boolean;
}

/** The organization, and perhaps the subscription, that something is counted for. */
interface Owner {
  organizationId: OrganizationId;
  subscriptionId?: SubscriptionId;
}

/** The most entries in memory. Beyond it new scopes get no entry. The service's own counts stay exact. */
const ENTRIES_MAX = 50_000;

/**
 * Counts what this process does, by minute, for the service, each organization and each subscription. It counts in memory only,
 * so it cannot slow, block or fail the work that it counts.
 */
export class ActivityLog {
  readonly #clock: Clock;
  readonly #max: number;
  #minute = new Date(0);
  #current = new Map<string, ActivityEntry>();
  /** Entries of earlier minutes. */
  #unwritten: ActivityEntry[] = [];
  #dropped = 0;
  #published = 0;

  constructor(clock: Clock, max = ENTRIES_MAX) {
    this.#clock = clock;
    this.#max = max;
  }

  /** The number of counts that had no room for an entry. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The number of events that were published since the start. */
  get published(): number {
    return this.#published;
  }

  /** Calls `change` with the counts of the service, the organization and the subscription, if one is named. */
  note({ organizationId, subscriptionId }: Owner, change: (counts: ActivityCounts) => void): void {
    this.#roll();
    this.#change("service", SERVICE_SCOPE, change);
    this.#change("organization", organizationId, change);
    if (subscriptionId !== undefined) this.#change("subscription", subscriptionId, change);
  }

  /** An event counts once for its organization, and for each subscription that gets it. */
  notePublished(organizationId: OrganizationId, subscriptionIds: readonly SubscriptionId[]): void {
    const change = (counts: ActivityCounts) => {
      counts.add("published");
    };
    this.#published++;
    this.note({ organizationId }, change);
    for (const id of subscriptionIds) this.#change("subscription", id, change);
  }

  /** Returns the entries that have changed since the last call. If they cannot be written, call `giveBack`. */
  take(): ActivityEntry[] {
    this.#roll();
    const taken = [...this.#unwritten, ...this.#current.values()].filter((one) => one.isChanged);
    for (const entry of taken) entry.isChanged = false;
    this.#unwritten = [];
    return taken;
  }

  /** Takes back entries that could not be written. The next `take` returns them again. */
  giveBack(entries: readonly ActivityEntry[]): void {
    for (const entry of entries) {
      if (entry.isChanged) continue;
      entry.isChanged = true;
      if (this.#current.get(entry.scope) !== entry) this.#unwritten.push(entry);
    }
  }

  /** A clock that steps back must not start a minute again, because its rows would be overwritten. */
  #roll(): void {
    const now = this.#clock().getTime();
    if (now < this.#minute.getTime() + MINUTE_MS) return;
    this.#minute = periodAt(new Date(now), MINUTE_MS);
    for (const entry of this.#current.values()) if (entry.isChanged) this.#unwritten.push(entry);
    this.#current = new Map();
  }

  #change(kind: ActivityKind, scope: string, change: (counts: ActivityCounts) => void): void {
    let entry = this.#current.get(scope);
    if (entry === undefined) {
      if (this.#current.size + this.#unwritten.length >= this.#max && kind !== "service") {
        this.#dropped++;
        return;
      }
      const counts = new ActivityCounts();
      entry = { kind, scope, at: this.#minute, counts, isChanged: true };
      this.#current.set(scope, entry);
    }
    entry.isChanged = true;
    change(entry.counts);
  }
}
