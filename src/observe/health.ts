import type { HealthChecks } from "../http/health.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { kept } from "../lib/kept.ts";
import { within } from "../lib/parts.ts";
import type { Database } from "../postgres/database.ts";
import { findPendingMigrations } from "../schema/migrate.ts";
import type { Check } from "../subjects/activity/rules.ts";
import type { InternalFault } from "../subjects/deliveries/rules.ts";
import { headOf, type KeyRing } from "../subjects/secrets/rules.ts";
import { isAnySealedUnder } from "../subjects/subscriptions/sql.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Writes } from "./outage.ts";

/** How long an internal fault keeps the process from being ready after it was last seen. */
const FAULT_MEMORY_MS = 60_000;

/**
 * Faults that leave the process ready. For `secret_sealed` the key ring is checked instead. `lease_spent` is over when it
 * is noticed. A partner's input may trigger the defect behind `unexpected`.
 */
const STAYS_READY: ReadonlySet<InternalFault> = new Set([
  "secret_sealed",
  "lease_spent",
  "unexpected",
]);

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

/** Checks whether this process can work. Partners cannot influence the results. */
export class Readiness {
  readonly #parts: Parts;
  readonly #clock: Clock;
  readonly #databaseMs: number;
  readonly #faults = new Map<InternalFault, number>();
  #isCurrent = false;
  #isStopping = false;

  /** Database and clock: can requests be served? */
  readonly forPartners: HealthChecks;
  /** Also internal faults: are deliveries sent? */
  readonly forOperators: HealthChecks;

  constructor(parts: Parts, clock: Clock = systemClock, databaseMs = DATABASE_MS) {
    this.#parts = parts;
    this.#clock = clock;
    this.#databaseMs = databaseMs;
    const base = kept(() => this.#checkBase());
    const faults = kept(() => this.#checkFaults());
    this.forPartners = this.#unlessStopping(base);
    this.forOperators = this.#unlessStopping(async () =>
      (await Promise.all([base(), faults()])).flat(),
    );
  }

  noteFault(fault: InternalFault): void {
    this.#faults.set(fault, this.#clock().getTime());
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

  async #checkBase(): Promise<Check[]> {
    return within(this.#databaseMs, this.#examine()).catch(() => [
      { name: "database", ok: false, detail: "unreachable" },
      { name: "clock", ok: false, detail: "unknown" },
    ]);
  }

  async #examine(): Promise<Check[]> {
    const { writes, clock } = this.#parts;
    const pending = await this.#findPending();
    await clock.measure();
    const seconds = Math.round(Math.abs(clock.skewMs) / 100) / 10;
    return [
      pending ?? (await checkWrites(writes)),
      { name: "clock", ok: clock.isRight, detail: `${seconds} s from the database's clock` },
    ];
  }

  async #findPending(): Promise<Check | null> {
    const pending = async () => findPendingMigrations(this.#parts.db.within(this.#databaseMs));
    this.#isCurrent ||= (await pending()).length === 0;
    return this.#isCurrent
      ? null
      : { name: "database", ok: false, detail: "migrations are pending" };
  }

  async #checkFaults(): Promise<Check[]> {
    const recent = this.#recentFaults();
    const checks = recent
      .filter((fault) => !STAYS_READY.has(fault))
      .map((fault) => toCheck(fault, false));
    return recent.includes("secret_sealed") ? [...checks, await this.#examineRing()] : checks;
  }

  /** A missing key stops only its own subscriptions. A ring without any of the keys stops all. */
  async #examineRing(): Promise<Check> {
    const { db, ring } = this.#parts;
    const asked = isAnySealedUnder(db.within(this.#databaseMs), ring.map(headOf));
    const opensSome = await within(this.#databaseMs, asked).catch(() => false);
    return toCheck("secret_sealed", opensSome);
  }

  #recentFaults(): InternalFault[] {
    const oldest = this.#clock().getTime() - FAULT_MEMORY_MS;
    return [...this.#faults].filter(([, at]) => at > oldest).map(([fault]) => fault);
  }
}

interface WorkersChecks {
  /** Of each running worker. Null if it did not answer in time. */
  checks: (Check[] | null)[];
  /** How many workers there should be. */
  count: number;
}

/**
 * Returns the checks of workers that serve the same ports. A check fails if it fails in one of them, or if one does not answer. A
 * worker that ended is started again, and one that stops is replaced: meanwhile the others serve.
 */
export function checkWorkers({ checks, count }: WorkersChecks): Check[] {
  const answered = checks.filter((one) => one !== null);
  const serving = answered.filter((one) => !isStopping(one));
  const all = (serving.length > 0 ? serving : answered).flat();
  const names = new Set(all.map(({ name }) => name));
  const worst = [...names].flatMap((name) => {
    const same = all.filter((one) => one.name === name);
    return same.find(({ ok }) => !ok) ?? same[0] ?? [];
  });
  if (serving.length === 0) return worst;
  const silent = checks.length - answered.length;
  const detail =
    silent > 0 ? `${silent} of ${count} do not answer` : `${serving.length} of ${count} serve`;
  return [...worst, { name: "workers", ok: silent === 0, detail }];
}

function isStopping(checks: Check[]): boolean {
  return checks.some(({ name }) => name === "stopping");
}

function toCheck(name: InternalFault, ok: boolean): Check {
  return { name, ok, detail: `${ok ? "some " : ""}deliveries wait until this is repaired` };
}

const REFUSES = "does not accept writes";

/** Requests write, so this check writes as well. */
async function checkWrites(writes: Writes): Promise<Check> {
  const fault = (detail: string) => ({ name: "database", ok: false, detail }) as const;
  try {
    await writes.check();
  } catch {
    return fault(REFUSES);
  }
  return writes.hasFailed(FAILURE_MEMORY_MS) ? fault(REFUSES) : { name: "database", ok: true };
}
