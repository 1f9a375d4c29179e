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

/** How long a failed write keeps the process from being ready, unless a later write succeeds. */
const FAILURE_MEMORY_MS = 3_000;

/** How long an internal fault keeps the process from being ready after it was last seen. */
const FAULT_MEMORY_MS = 60_000;

/**
 * Faults that are no reason by themselves. For `secret_sealed` the key ring is checked instead. `lease_spent` is over when it
 * is noticed. A partner's input may trigger the defect behind `unexpected`.
 */
const NO_REASON: ReadonlySet<InternalFault> = new Set([
  "secret_sealed",
  "lease_spent",
  "unexpected",
]);

/** The database's time limit. Balancers have their own, which is shorter than that of a statement. */
const DATABASE_MS = 3_000;

/** Checks whether this process can work. Partners cannot influence the results. */
export class Readiness {
  readonly #db: Database;
  readonly #writes: Writes;
  readonly #clock: DatabaseClock;
  readonly #ring: KeyRing;
  readonly #databaseMs: number;
  readonly #faults = new Map<InternalFault, number>();
  #isCurrent = false;
  #isStopping = false;

  /** Database and clock: can requests be served? */
  readonly forPartners: HealthChecks;
  /** Also internal faults: are deliveries sent? */
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

  /** From now on, tells balancers to send no more requests. */
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
        detail: `${seconds} s from the database's clock`,
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

  /** Requests write, so this check writes as well. */
  async #checkWrites(): Promise<Check> {
    const commits = await this.#writes.check().then(
      () => !this.#writes.hasFailed(FAILURE_MEMORY_MS),
      () => false,
    );
    return commits
      ? { name: "database", ok: true }
      : { name: "database", ok: false, detail: "does not accept writes" };
  }

  async #checkFaults(): Promise<Check[]> {
    const recent = this.#recentFaults();
    const checks = recent
      .filter((fault) => !NO_REASON.has(fault))
      .map((fault) => toCheck(fault, false));
    return recent.includes("secret_sealed") ? [...checks, await this.#examineRing()] : checks;
  }

  /** A missing key stops only its own subscriptions. A ring without any of the keys stops all. */
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
  return { name, ok, detail: `${ok ? "some " : ""}deliveries wait until this is repaired` };
}
