import type { OurFault } from "../domain/outcome.ts";
import { headOf, type KeyRing } from "../domain/sealed-secret.ts";
import type { Database } from "../postgres/database.ts";
import { findPendingMigrations } from "../postgres/migrate.ts";
import { takesWrites } from "../postgres/server.ts";
import { isAnySealedUnder } from "../postgres/subscriptions.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { within } from "./within.ts";

export interface Check {
  name: string;
  ok: boolean;
  detail?: string;
}

/** How long a fault of our own keeps us from being ready after it was last seen. */
const FAULT_MEMORY_MS = 60_000;

/** What says less than a look at the key ring does, and what is over when it shows. */
const NO_REASON: ReadonlySet<OurFault> = new Set(["secret_sealed", "lease_spent"]);

/** An answer serves this long, so that whoever asks cannot load the database. */
const ANSWER_LIFE_MS = 1_000;

/** How long the database may take. Whoever asks has a limit of its own, and shorter than that of a statement. */
const DATABASE_MS = 3_000;

/** Knows whether this process can do its work. */
export class Readiness {
  readonly #db: Database;
  readonly #clock: DatabaseClock;
  readonly #ring: KeyRing;
  readonly #databaseMs: number;
  readonly #faults = new Map<OurFault, number>();
  #answer: { at: number; checks: Promise<Check[]> } | undefined;
  #isCurrent = false;
  #isStopping = false;

  constructor(
    { db, clock, ring }: { db: Database; clock: DatabaseClock; ring: KeyRing },
    databaseMs = DATABASE_MS,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#ring = ring;
    this.#databaseMs = databaseMs;
  }

  noteFault(fault: OurFault): void {
    this.#faults.set(fault, this.#clock.now().getTime());
  }

  /** Whoever sends us work should do so no more. */
  noteStopping(): void {
    this.#isStopping = true;
  }

  async ready(): Promise<Check[]> {
    if (this.#isStopping) return [{ name: "stopping", ok: false }];
    const now = performance.now();
    if (!this.#answer || now - this.#answer.at > ANSWER_LIFE_MS) {
      this.#answer = { at: now, checks: this.#check() };
    }
    return this.#answer.checks;
  }

  async #check(): Promise<Check[]> {
    const faults = this.#recentFaults();
    const checks = await this.#askDatabase(faults.includes("secret_sealed"));
    const ours = faults.filter((fault) => !NO_REASON.has(fault));
    return [...checks, ...ours.map((fault) => toCheck(fault, false))];
  }

  async #askDatabase(withRing: boolean): Promise<Check[]> {
    try {
      return await within(this.#databaseMs, this.#examineDatabase(withRing));
    } catch {
      return [
        { name: "database", ok: false, detail: "unreachable" },
        { name: "clock", ok: false, detail: "unknown" },
      ];
    }
  }

  async #examineDatabase(withRing: boolean): Promise<Check[]> {
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
      ...(withRing ? [await this.#examineRing()] : []),
    ];
  }

  async #databaseCheck(): Promise<Check> {
    this.#isCurrent ||= (await findPendingMigrations(this.#db)).length === 0;
    if (!this.#isCurrent) return { name: "database", ok: false, detail: "migrations are pending" };
    if (await takesWrites(this.#db)) return { name: "database", ok: true };
    return { name: "database", ok: false, detail: "takes no writes" };
  }

  /** A key that is lost stops its own subscriptions. A ring that knows none of the keys stops them all. */
  async #examineRing(): Promise<Check> {
    const opensSome = await isAnySealedUnder(this.#db, this.#ring.map(headOf));
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
