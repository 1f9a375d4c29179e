import type { Check } from "../domain/overview.ts";
import { headOf, type KeyRing } from "../domain/sealed-secret.ts";
import type { Database } from "../postgres/database.ts";
import { findPendingMigrations } from "../postgres/migrate.ts";
import { hasMoved } from "../postgres/moves/guards.ts";
import { isAnySealedUnder } from "../postgres/subscriptions.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { kept, servedAtOnce } from "./kept.ts";
import { within } from "./within.ts";
import type { Writes } from "./writes.ts";

/** How long a failed write keeps the process from being ready, unless a later write succeeds. */
const FAILURE_MEMORY_MS = 3_000;

/** The database's time limit. Balancers have their own, which is shorter than that of a statement. */
const DATABASE_MS = 3_000;

interface Parts {
  db: Database;
  writes: Writes;
  clock: DatabaseClock;
  ring: KeyRing;
}

/** Checks whether one shard can work. */
export class ShardHealth {
  readonly name: string;
  readonly #databaseMs: number;
  #parts: Parts | null = null;
  #isCurrent = false;

  #checks = this.#keptChecks();

  constructor(name: string, databaseMs = DATABASE_MS) {
    this.name = name;
    this.#databaseMs = databaseMs;
  }

  /** Until this is called, the shard counts as unreachable. */
  watch(parts: Parts): void {
    this.#parts = parts;
    this.#checks = this.#keptChecks(); // The last result was "unreachable".
  }

  /** Returns the checks of database and clock. */
  async check(): Promise<Check[]> {
    return this.#checks.fresh();
  }

  /** The same, but a failure is returned again at once. A frozen database would delay each overview. */
  async checkAtOnce(): Promise<Check[]> {
    return this.#checks.atOnce();
  }

  /** Returns false if secrets are sealed, and the ring has none of their keys. */
  async opensSome(): Promise<boolean> {
    if (this.#parts === null) return false;
    const { db, ring } = this.#parts;
    const asked = isAnySealedUnder(db.within(this.#databaseMs), ring.map(headOf));
    return within(this.#databaseMs, asked).catch(() => false);
  }

  #keptChecks() {
    const fresh = kept(() => this.#check());
    return { fresh, atOnce: servedAtOnce(fresh, (checks) => checks.some(({ ok }) => !ok)) };
  }

  async #check(): Promise<Check[]> {
    try {
      if (this.#parts !== null) return await within(this.#databaseMs, this.#examine(this.#parts));
    } catch {
      // It is unreachable.
    }
    return [
      { name: "database", ok: false, detail: "unreachable" },
      { name: "clock", ok: false, detail: "unknown" },
    ];
  }

  async #examine({ db, writes, clock }: Parts): Promise<Check[]> {
    const pending = await this.#findPending(db);
    await clock.measure();
    const seconds = Math.round(Math.abs(clock.skewMs) / 100) / 10;
    return [
      pending ?? (await checkWrites(writes)),
      { name: "clock", ok: clock.isRight, detail: `${seconds} s from the database's clock` },
    ];
  }

  async #findPending(db: Database): Promise<Check | null> {
    const pending = async () => findPendingMigrations(db.within(this.#databaseMs));
    this.#isCurrent ||= (await pending()).length === 0;
    return this.#isCurrent
      ? null
      : { name: "database", ok: false, detail: "migrations are pending" };
  }
}

const REFUSES = "does not accept writes";

/** Requests write, so this check writes as well. */
async function checkWrites(writes: Writes): Promise<Check> {
  const fault = (detail: string) => ({ name: "database", ok: false, detail }) as const;
  try {
    await writes.check();
  } catch (error) {
    return fault(hasMoved(error) ? error.message : REFUSES);
  }
  return writes.hasFailed(FAILURE_MEMORY_MS) ? fault(REFUSES) : { name: "database", ok: true };
}
