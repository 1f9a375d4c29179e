import { type Problem, ProblemLog, problemsOf } from "../domain/overview.ts";
import type { Dependencies } from "./dependencies.ts";
import { everywhere, isAway } from "./everywhere.ts";
import {
  composeOverview,
  composeTrends,
  type Overview,
  readOverview,
  readTrends,
  type Trends,
  unknownOverview,
} from "./overview.ts";
import type { Shards } from "./shards.ts";

/** How long one overview is kept for all callers. */
const OVERVIEW_MS = 1_000;
/** How long the trends are kept, which cost more and change slowly. */
const TRENDS_MS = 10_000;
/** How long the database may take. */
const PATIENCE_MS = 5_000;

/** Reads the overview for all callers, and queries the database at most once a second. */
export class OverviewReader {
  readonly #shards: Shards;
  readonly #nowMs: () => number;
  readonly #folders = new ProblemLog();
  readonly #database = new ProblemLog();
  #overview: { endedAt: number | null; value: Promise<Overview> } | undefined;
  #trends: { at: number; value: Trends } | undefined;

  constructor(shards: Shards, nowMs: () => number = () => performance.now()) {
    this.#shards = shards;
    this.#nowMs = nowMs;
  }

  read(): Promise<Overview> {
    const { endedAt, value } = this.#overview ?? { endedAt: -Infinity };
    if (value && (endedAt === null || this.#nowMs() - endedAt < OVERVIEW_MS)) return value;

    const begun: { endedAt: number | null; value: Promise<Overview> } = {
      endedAt: null,
      value: this.#find().finally(() => (begun.endedAt = this.#nowMs())),
    };
    this.#overview = begun;
    return begun.value;
  }

  /** Returns the overview for the time in which the database is unavailable. It has no stored data. */
  async readOutage(): Promise<Overview> {
    const checks = await this.#shards.settings.ownProblems();
    if (checks.some(({ code }) => code === "database")) return unknownOverview(checks);
    const found = problemsOf([{ name: "database", ok: false, detail: "it does not answer" }]);
    return unknownOverview([...checks, ...this.#dated(found)]);
  }

  /** If the database is unavailable, the overview says so. That is no error. */
  async #find(): Promise<Overview> {
    const checks = await this.#shards.settings.ownProblems();
    if (checks.some(({ code }) => code === "database")) return unknownOverview(checks);
    try {
      return await this.#ask(checks);
    } catch (error) {
      if (!isAway(error)) throw error;
      return this.readOutage();
    }
  }

  async #ask(checks: Problem[]): Promise<Overview> {
    const trends = await this.#findTrends();
    const { values, away } = await everywhere(this.#shards, inTime(readOverview));
    const detail = `shard ${away.join(", ")}: does not answer`;
    const found = this.#dated(away.length === 0 ? [] : [{ code: "shard", detail }]);
    return composeOverview(values, {
      ...{ now: this.#shards.clock(), trends, folders: this.#folders },
      checks: [...checks, ...found],
    });
  }

  #dated(found: Omit<Problem, "since">[]): Problem[] {
    return this.#database.date(found, this.#shards.clock());
  }

  /** The last trends stay if they take too long, which is no outage, or if the sums would lack a shard. */
  async #findTrends(): Promise<Trends> {
    const at = this.#nowMs();
    const last = this.#trends;
    if (last && at - last.at < TRENDS_MS) return last.value;
    const value = await everywhere(this.#shards, inTime(readTrends)).then(
      ({ values, away }) => (last && away.length > 0 ? last.value : composeTrends(values)),
      (error: unknown) => {
        if (!last) throw error;
        return last.value;
      },
    );
    this.#trends = { at, value };
    return value;
  }
}

function inTime<Part>(read: (deps: Pick<Dependencies, "db" | "clock">) => Promise<Part>) {
  return ({ db, clock }: Dependencies) => read({ clock, db: db.within(PATIENCE_MS) });
}
