import type { OurFault } from "../domain/outcome.ts";
import { headOf, type KeyRing } from "../domain/sealed-secret.ts";
import type { HealthChecks } from "../http/health.ts";
import type { Database } from "../postgres/database.ts";
import { findPendingMigrations } from "../postgres/migrate.ts";
import { takesWrites } from "../postgres/server.ts";
import { isAnySealedUnder } from "../postgres/subscriptions.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { within } from "./within.ts";

interface Check {
  name: string;
  ok: boolean;
  detail?: string;
}

/** How long an internal fault keeps us from being ready after it was last seen. */
const FAULT_MEMORY_MS = 60_000;

/**
 * Faults that by themselves are no reason: a look at the key ring says more than `secret_sealed`, `lease_spent` is over
 * when it shows, and the defect behind `unexpected` may need a partner's help to show.
 */
const NO_REASON: ReadonlySet<OurFault> = new Set(["secret_sealed", "lease_spent", "unexpected"]);

/** An answer serves this long, so that requests cannot load the database. */
const ANSWER_LIFE_MS = 1_000;

/** How long the database may take. Balancers have a limit of their own, and a shorter one than a statement. */
const DATABASE_MS = 3_000;

/** Knows whether this process can do its work. Nothing that a partner chooses changes either answer. */
export class Readiness {
  readonly #db: Database;
  readonly #clock: DatabaseClock;
  readonly #ring: KeyRing;
  readonly #databaseMs: number;
  readonly #faults = new Map<OurFault, number>();
  #isCurrent = false;
  #isStopping = false;

  /** Database and clock: whether requests can be served. */
  readonly forPartners: HealthChecks;
  /** Internal faults, too: whether deliveries go out. */
  readonly forOperators: HealthChecks;

  constructor(
    { db, clock, ring }: { db: Database; clock: DatabaseClock; ring: KeyRing },
    databaseMs = DATABASE_MS,
  ) {
    this.#db = db;
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

  noteFault(fault: OurFault): void {
    this.#faults.set(fault, this.#clock.now().getTime());
  }

  /** From now on balancers are to send nothing more. */
  noteStopping(): void {
    this.#isStopping = true;
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
    const database = await this.#databaseCheck();
    await this.#clock.measure();
    const seconds = Math.round(Math.abs(this.#clock.skewMs) / 100) / 10;
    return [
      database,
      {
        name: "clock",
        ok: this.#clock.isRight,
        detail: `${seconds} s off the database's`,
      },
    ];
  }

  async #databaseCheck(): Promise<Check> {
    this.#isCurrent ||= (await findPendingMigrations(this.#db)).length === 0;
    if (!this.#isCurrent) return { name: "database", ok: false, detail: "migrations are pending" };
    if (await takesWrites(this.#db)) return { name: "database", ok: true };
    return { name: "database", ok: false, detail: "takes no writes" };
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
    const asked = isAnySealedUnder(this.#db, this.#ring.map(headOf));
    const opensSome = await within(this.#databaseMs, asked).catch(() => false);
    return toCheck("secret_sealed", opensSome);
  }

  #recentFaults(): OurFault[] {
    const oldest = this.#clock.now().getTime() - FAULT_MEMORY_MS;
    return [...this.#faults].filter(([, at]) => at > oldest).map(([fault]) => fault);
  }
}

function toCheck(name: OurFault, ok: boolean): Check {
  return { name, ok, detail: `${ok ? "some " : ""}deliveries wait until we mend this` };
}

/** Gives one answer to all who ask within its life. */
function kept(check: () => Promise<Check[]>): () => Promise<Check[]> {
  let answer: { at: number; checks: Promise<Check[]> } | undefined;
  return () => {
    const now = performance.now();
    if (!answer || now - answer.at > ANSWER_LIFE_MS) answer = { at: now, checks: check() };
    return answer.checks;
  };
}
