import { type Problem, ProblemLog } from "../domain/overview.ts";
import { isUnavailable } from "../postgres/database.ts";
import type { Dependencies } from "./dependencies.ts";
import {
  findOverview,
  findTrends,
  type Overview,
  type Trends,
  unknownOverview,
} from "./overview.ts";

/** How long one overview is kept for all callers. */
const OVERVIEW_MS = 1_000;
/** How long the trends are kept, which cost more and change slowly. */
const TRENDS_MS = 10_000;
/** How long the database may take. */
const PATIENCE_MS = 5_000;

/** Reads the overview for all callers, and queries the database at most once a second. */
export class OverviewReader {
  readonly #deps: Pick<Dependencies, "db" | "clock">;
  readonly #ownProblems: () => Promise<Problem[]>;
  readonly #nowMs: () => number;
  readonly #folders = new ProblemLog();
  readonly #database = new ProblemLog();
  #overview: { endedAt: number | null; value: Promise<Overview> } | undefined;
  #trends: { at: number; value: Trends } | undefined;

  /** `ownProblems` returns the problems of this process, as `/readyz` shows them. */
  constructor(
    deps: Pick<Dependencies, "db" | "clock">,
    ownProblems: () => Promise<Problem[]>,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#deps = deps;
    this.#ownProblems = ownProblems;
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

  /** Returns what the overview says while the database is unavailable. It holds no stored data. */
  async readOutage(): Promise<Overview> {
    const checks = await this.#ownProblems();
    if (checks.some(({ code }) => code === "database")) return unknownOverview(checks);
    const found = { code: "database", detail: "database: does not answer" };
    return unknownOverview([...checks, ...this.#database.date([found], this.#deps.clock())]);
  }

  /** If the database is unavailable, the overview says so. That is no error. */
  async #find(): Promise<Overview> {
    const checks = await this.#ownProblems();
    if (checks.some(({ code }) => code === "database")) return unknownOverview(checks);
    try {
      const overview = await this.#ask(checks);
      this.#database.date([], this.#deps.clock());
      return overview;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return this.readOutage();
    }
  }

  async #ask(checks: Problem[]): Promise<Overview> {
    const deps = { ...this.#deps, db: this.#deps.db.within(PATIENCE_MS) };
    const trends = await this.#findTrends(deps);
    return findOverview(deps, { checks, trends, folders: this.#folders });
  }

  /** Trends that take too long are no outage: the last ones stay. */
  async #findTrends(deps: Pick<Dependencies, "db" | "clock">): Promise<Trends> {
    const at = this.#nowMs();
    const last = this.#trends;
    if (last && at - last.at < TRENDS_MS) return last.value;
    const value = await findTrends(deps).catch((error: unknown) => {
      if (!last) throw error;
      return last.value;
    });
    this.#trends = { at, value };
    return value;
  }
}
