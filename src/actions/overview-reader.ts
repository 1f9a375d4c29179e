import { ProblemLog, problemsOf } from "../domain/overview.ts";
import { isUnavailable } from "../postgres/database.ts";
import type { Dependencies } from "./dependencies.ts";
import {
  findOverview,
  findTrends,
  type Overview,
  type Trends,
  unknownOverview,
  withoutParts,
} from "./overview.ts";

/** How long one overview is kept for all callers. */
const OVERVIEW_MS = 1_000;
/** How long the trends are kept, which cost more and change slowly. */
const TRENDS_MS = 10_000;
/** How long the database may take. */
const PATIENCE_MS = 5_000;

type Deps = Pick<Dependencies, "db" | "clock" | "ownProblems">;

/** One reading. `plain` is without what only gateways need. */
interface Shared {
  endedAt: number | null;
  mergeable: Promise<Overview>;
  plain: Promise<Overview>;
}

/** Reads the overview for all callers, and queries the database at most once a second. */
export class OverviewReader {
  readonly #deps: Deps;
  readonly #nowMs: () => number;
  readonly #folders = new ProblemLog();
  readonly #database = new ProblemLog();
  #overview: Shared | undefined;
  #trends: { at: number; value: Trends } | undefined;

  constructor(deps: Deps, nowMs: () => number = () => performance.now()) {
    this.#deps = deps;
    this.#nowMs = nowMs;
  }

  read(): Promise<Overview> {
    return this.#share().plain;
  }

  /** Returns an overview that a gateway can merge with those of other cells. */
  readMergeable(): Promise<Overview> {
    return this.#share().mergeable;
  }

  #share(): Shared {
    const last = this.#overview;
    if (last && (last.endedAt === null || this.#nowMs() - last.endedAt < OVERVIEW_MS)) return last;
    const mergeable = this.#find().finally(() => (begun.endedAt = this.#nowMs()));
    const begun: Shared = { endedAt: null, mergeable, plain: mergeable.then(withoutParts) };
    begun.plain.catch(() => undefined); // Nobody may have asked for it.
    this.#overview = begun;
    return begun;
  }

  /** Returns the overview for the time in which the database is unavailable. It has no stored data. */
  async readOutage(): Promise<Overview> {
    const checks = await this.#deps.ownProblems();
    if (checks.some(({ code }) => code === "database")) return unknownOverview(checks);
    const found = problemsOf([{ name: "database", ok: false, detail: "it does not answer" }]);
    return unknownOverview([...checks, ...this.#database.date(found, this.#deps.clock())]);
  }

  /** If the database is unavailable, the overview says so. That is no error. */
  async #find(): Promise<Overview> {
    const checks = await this.#deps.ownProblems();
    if (checks.some(({ code }) => code === "database")) return unknownOverview(checks);
    try {
      const trends = await this.#findTrends();
      const found = await findOverview(this.#inTime(), { checks, trends, folders: this.#folders });
      this.#database.date([], this.#deps.clock()); // The next outage begins anew.
      return found;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return this.readOutage();
    }
  }

  /** The last trends stay if they take too long, which is no outage. */
  async #findTrends(): Promise<Trends> {
    const at = this.#nowMs();
    const last = this.#trends;
    if (last && at - last.at < TRENDS_MS) return last.value;
    const value = await findTrends(this.#inTime()).catch((error: unknown) => {
      if (!last) throw error;
      return last.value;
    });
    this.#trends = { at, value };
    return value;
  }

  #inTime(): Pick<Deps, "db" | "clock"> {
    const { db, clock } = this.#deps;
    return { clock, db: db.within(PATIENCE_MS) };
  }
}
