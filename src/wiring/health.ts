import type { InternalFault } from "../domain/outcome.ts";
import { headOf, type KeyRing } from "../domain/sealed-secret.ts";
import type { HealthChecks } from "../http/health.ts";
import type { Database } from "../postgres/database.ts";
import { findPendingMigrations } from "../postgres/migrate.ts";
import { isAnySealedUnder } from "../postgres/subscriptions.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { kept } from "./kept.ts";
import { within } from "./within.ts";
import type { Writes } from "./writes.ts";

interface Check {
  name: string;
  ok: boolean;
  detail?: string;
}

/** How long a failed write of the service keeps us from being ready, unless one succeeds. */
const FAILURE_MEMORY_MS = 3_000;

/** How long an internal fault keeps us from being ready after it was last seen. */
const FAULT_MEMORY_MS = 60_000;

/**
 * Faults that by themselves are no reason: a look at the key ring says more than `secret_sealed`, `lease_spent` is over
 * when it shows, and the defect behind `unexpected` may need a partner's help to show.
 */
const NO_REASON: ReadonlySet<InternalFault> = new Set([
  "secret_sealed",
  "lease_spent",
  "unexpected",
]);

/** How long the database may take. Balancers have a limit of their own, and a shorter one than a statement. */
const DATABASE_MS = 3_000;

/** Knows whether this process can do its work. Nothing that a partner chooses changes either answer. */
export class Readiness {
  readonly #db: Database;
  readonly #writes: Writes;
  readonly #clock: DatabaseClock;
  readonly #ring: KeyRing;
  readonly #databaseMs: number;
  readonly #faults = new Map<InternalFault, number>();
  #isCurrent = false;
  #isStopping = false;

  /** Database and clock: whether requests can be served. */
  readonly forPartners: HealthChecks;
  /** Internal faults, too: whether deliveries go out. */
  readonly forOperators: HealthChecks;

  constructor(
    {
      db,
      writes,
      clock,
      ring,
    }: { db: Database; writes: Writes; clock: DatabaseClock; ring: KeyRing },
    databaseMs = DATABASE_MS,
  ) {
    this.#db = db;
    this.#writes = writes;
    this.#clock = clock;
    this.#ring = ring;
    this.#databaseMs = databaseMs;
    const base = kept(() => this.#checkDatabase());
    const faults = kept(() => this.#checkFaults());
    this.forPartners = this.#unlessStopping(base);
    this.forOperators = this.#unlessStopping(async () =>
      (await Promise.all([base(), faults()])).flat(),
    );
  }

  noteFault(fault: InternalFault): void {
    this.#faults.set(fault, this.#clock.now().getTime());
  }

  /** From now on balancers are to send nothing more. */
  noteStopping(): void {
    this.#isStopping = true;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  #unlessStopping(checks: () => Promise<Check[]>): HealthChecks {
    return {
      ready: async () => (this.#isStopping ? [{ name: "stopping", ok: false }] : checks()),
    };
  }

  async #checkDatabase(): Promise<Check[]> {
    try {
      return await within(this.#databaseMs, this.#examineDatabase());
    } catch {
      return [
        { name: "database", ok: false, detail: "unreachable" },
        { name: "clock", ok: false, detail: "unknown" },
      ];
    }
  }

  async #examineDatabase(): Promise<Check[]> {
    const pending = await this.#findPending();
    await this.#clock.measure();
    const seconds = Math.round(Math.abs(this.#clock.skewMs) / 100) / 10;
    return [
      pending ?? (await this.#checkWrites()),
      {
        name: "clock",
        ok: this.#clock.isRight,
        detail: `${seconds} s off the database's`,
      },
    ];
  }

  async #findPending(): Promise<Check | null> {
    const db = this.#db.within(this.#databaseMs);
    this.#isCurrent ||= (await findPendingMigrations(db)).length === 0;
    return this.#isCurrent
      ? null
      : { name: "database", ok: false, detail: "migrations are pending" };
  }

  /** What the next request would meet: it writes, too. */
  async #checkWrites(): Promise<Check> {
    const commits = await this.#writes.check().then(
      () => !this.#writes.hasFailed(FAILURE_MEMORY_MS),
      () => false,
    );
    return commits
      ? { name: "database", ok: true }
      : { name: "database", ok: false, detail: "takes no writes" };
  }

  async #checkFaults(): Promise<Check[]> {
    const recent = this.#recentFaults();
    const checks = recent
      .filter((fault) => !NO_REASON.has(fault))
      .map((fault) => toCheck(fault, false));
    return recent.includes("secret_sealed") ? [...checks, await this.#examineRing()] : checks;
  }

  /** A key that is lost stops its own subscriptions. A ring that knows none of the keys stops them all. */
  async #examineRing(): Promise<Check> {
    const asked = isAnySealedUnder(this.#db.within(this.#databaseMs), this.#ring.map(headOf));
    const opensSome = await within(this.#databaseMs, asked).catch(() => false);
    return toCheck("secret_sealed", opensSome);
  }

  #recentFaults(): InternalFault[] {
    const oldest = this.#clock.now().getTime() - FAULT_MEMORY_MS;
    return [...this.#faults].filter(([, at]) => at > oldest).map(([fault]) => fault);
  }
}

function toCheck(name: InternalFault, ok: boolean): Check {
  return { name, ok, detail: `${ok ? "some " : ""}deliveries wait until we mend this` };
}
