import { setTimeout as sleep } from "node:timers/promises";
import type { OurFault } from "../domain/outcome.ts";
import type { Database } from "../postgres/database.ts";
import { findPendingMigrations } from "../postgres/migrate.ts";
import type { DatabaseClock } from "./database-clock.ts";

export interface Check {
  name: string;
  ok: boolean;
  detail?: string;
}

/** How long a fault of our own keeps us from being ready after it was last seen. */
const FAULT_MEMORY_MS = 60_000;

/** An answer serves this long, so that whoever asks cannot load the database. */
const ANSWER_LIFE_MS = 1_000;

/** How long the database may take. Whoever asks has a limit of its own, and shorter than that of a statement. */
const DATABASE_MS = 3_000;

/** Knows whether this process can do its work. */
export class Readiness {
  readonly #db: Database;
  readonly #clock: DatabaseClock;
  readonly #databaseMs: number;
  readonly #faults = new Map<OurFault, number>();
  #answer: { at: number; checks: Promise<Check[]> } | undefined;
  #isCurrent = false;
  #isStopping = false;

  constructor(db: Database, clock: DatabaseClock, databaseMs = DATABASE_MS) {
    this.#db = db;
    this.#clock = clock;
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
    const [database, clock] = await this.#askDatabase();
    return [database, clock, ...this.#recentFaults()];
  }

  async #askDatabase(): Promise<[Check, Check]> {
    try {
      return await within(this.#databaseMs, this.#examineDatabase());
    } catch {
      return [
        { name: "database", ok: false, detail: "unreachable" },
        { name: "clock", ok: false, detail: "unknown" },
      ];
    }
  }

  async #examineDatabase(): Promise<[Check, Check]> {
    this.#isCurrent ||= (await findPendingMigrations(this.#db)).length === 0;
    await this.#clock.measure();
    const seconds = Math.round(Math.abs(this.#clock.skewMs) / 100) / 10;
    return [
      {
        name: "database",
        ok: this.#isCurrent,
        ...(this.#isCurrent ? {} : { detail: "migrations are pending" }),
      },
      {
        name: "clock",
        ok: this.#clock.isRight,
        detail: `${seconds} s off the database's`,
      },
    ];
  }

  #recentFaults(): Check[] {
    const oldest = this.#clock.now().getTime() - FAULT_MEMORY_MS;
    return [...this.#faults]
      .filter(([, at]) => at > oldest)
      .map(([fault]) => ({
        name: fault,
        ok: false,
        detail: "deliveries wait until we mend this",
      }));
  }
}

async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error("no answer in time");
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
