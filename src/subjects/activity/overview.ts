import { after } from "../../lib/clock.ts";
import { publicId } from "../../lib/ids.ts";
import { cut } from "../../lib/objects.ts";
import { isUnavailable } from "../../postgres/database.ts";
import { type Backlog, countBacklog, findNextDueOf } from "../deliveries/sql.ts";
import type { Dependencies } from "../dependencies.ts";
import { listNodes } from "../event-types/sql.ts";
import { NODE_UNSEEN_MS } from "../event-types/work.ts";
import { type BridgeView, viewBridges } from "../bridges/work.ts";
import { missedAt, processStateAt } from "../processes/rules.ts";
import type { KnownProcess } from "../processes/sql.ts";
import { listKnownProcesses, type ProcessView, viewProcess } from "../processes/work.ts";
import { isReleaseNear, type Keeping, releaseBy } from "../subscriptions/rules.ts";
import { type HeldSubscription, listHeld } from "../subscriptions/sql.ts";
import { type HeldView, viewHeld } from "../subscriptions/work.ts";
import { type FailingExport, findFailingExport } from "./exports-sql.ts";
import {
  LAG_MAX_SECONDS,
  type Latency,
  mergeProblems,
  MINUTE_MS,
  periodAt,
  type Problem,
  ProblemLog,
  problemsOf,
  SERVICE_SCOPE,
  type ServiceStatus,
  statusOf,
} from "./rules.ts";
import {
  type ActivityPoint,
  listActivity,
  rankOrganizations,
  rankSubscriptions,
  sumActivity,
} from "./sql.ts";
import {
  type NearLimitView,
  type RankedView,
  sumOf,
  viewAttempts,
  viewNearLimit,
  viewRanked,
} from "./work.ts";

/** The overview for operators. Members of `now` and `last_24h` are null while the database is unavailable. */
export interface Overview {
  status: ServiceStatus;
  problems: Problem[];
  now: {
    deliveries_per_second: number | null;
    success_share: number | null;
    attempt_ms: Latency;
    waiting: Record<"due" | "scheduled" | "held", number | null> & Pick<Backlog, "estimated">;
    oldest_due_seconds: number | null;
    attempts_under_way: number | null;
  };
  last_24h: Record<
    "published" | "delivered" | "dead_lettered" | "cancelled" | "disabled",
    number | null
  >;
  failing: RankedView[];
  slowest: RankedView[];
  near_limit: NearLimitView[];
  /** The subscriptions that operators have held the longest. */
  held: HeldView[];
  processes: ProcessView[];
  bridges: BridgeView[];
}

type Trends = Pick<Overview, "last_24h" | "failing" | "slowest" | "near_limit">;

type Deps = Pick<Dependencies, "db" | "clock">;

/** The length of each of the three lists, and the time span of their ranking. */
export const RANKED_MAX = 10;
const RANKED_OVER_MS = 60 * MINUTE_MS;
const DAY_MS = 1_440 * MINUTE_MS;

/** Returns the sums and lists that change slowly. They may be cached for some seconds. */
async function findTrends({ db, clock }: Deps): Promise<Trends> {
  const now = clock();
  const ranked = { since: after(now, -RANKED_OVER_MS), limit: RANKED_MAX };
  const day = { scope: SERVICE_SCOPE, since: after(now, -DAY_MS), until: after(now, MINUTE_MS) };
  const [sums, failing, slowest, nearLimit] = await Promise.all([
    sumActivity(db, day),
    rankSubscriptions(db, "failing", ranked),
    rankSubscriptions(db, "slowest", ranked),
    rankOrganizations(db, ranked),
  ]);
  const { published, delivered, dead_lettered, cancelled, disabled } = sums;
  return {
    last_24h: {
      ...{ published, delivered, dead_lettered, disabled },
      // Of a delivery that was cancelled earlier, only the end is in the span.
      cancelled: Math.max(0, cancelled),
    },
    failing: failing.map(viewRanked),
    slowest: slowest.map(viewRanked),
    near_limit: nearLimit.map(viewNearLimit),
  };
}

/**
 * Returns the status of the service and its present activity. `checks` are the failed checks of this process. `folders`
 * remembers since when the processes know different event types.
 */
export async function findOverview(
  { db, clock, ...keeping }: Deps & Keeping,
  { checks, trends, folders }: { checks: readonly Problem[]; trends: Trends; folders: ProblemLog },
): Promise<Overview> {
  const now = clock();
  const [recent, waiting, nextDue, held, processes, bridges, nodes, failingExport] =
    await Promise.all([
      listActivity(db, recentSpan(now), MINUTE_MS),
      countBacklog(db, null, now),
      findNextDueOf(db, null, now),
      listHeld(db, RANKED_MAX),
      listKnownProcesses({ db, clock }),
      viewBridges({ db, clock }),
      listNodes(db, after(now, -NODE_UNSEEN_MS)),
      findFailingExport(db),
    ]);
  const lagSeconds = nextDue ? Math.max(0, (now.getTime() - nextDue.getTime()) / 1000) : 0;
  const alive = processes.filter((one) => processStateAt(now, one) !== "gone");
  const problems = mergeProblems([
    ...checks,
    ...alive.flatMap((one) => one.problems.map((problem) => atProcess(problem, one))),
    ...lagProblem(lagSeconds, nextDue),
    ...processProblems(processes, alive, now),
    ...folders.date(folderProblem(nodes), now),
    ...exportProblem(failingExport),
    ...holdProblem(held, keeping, now),
  ]);
  return {
    status: statusOf(problems),
    problems,
    now: {
      ...viewRecent(recent, now),
      waiting,
      oldest_due_seconds: Math.floor(lagSeconds),
      attempts_under_way: alive.reduce((sum, one) => sum + one.attemptsUnderWay, 0),
    },
    ...trends,
    held: held.map((row) => viewHeld(row, keeping)),
    processes: processes.map((one) => viewProcess(one, now)),
    bridges,
  };
}

/** Returns the overview without what only gateways need. */
export function withoutParts({ now, failing, slowest, ...overview }: Overview): Overview {
  const plain = (row: RankedView) => {
    const copy = { ...row, ...quantilesOf(row) };
    delete copy.measure;
    return copy;
  };
  return {
    ...overview,
    now: { ...now, ...quantilesOf(now) },
    failing: failing.map(plain),
    slowest: slowest.map(plain),
  };
}

function quantilesOf({ attempt_ms: { p50, p99 } }: { attempt_ms: Latency }) {
  return { attempt_ms: { p50, p99 } };
}

/** Returns the overview while the database is unavailable. */
export function unknownOverview(problems: readonly Problem[]): Overview {
  return {
    status: statusOf(problems),
    problems: [...problems],
    now: {
      deliveries_per_second: null,
      success_share: null,
      attempt_ms: { p50: null, p99: null },
      waiting: { due: null, scheduled: null, held: null, estimated: false },
      oldest_due_seconds: null,
      attempts_under_way: null,
    },
    last_24h: {
      published: null,
      delivered: null,
      dead_lettered: null,
      cancelled: null,
      disabled: null,
    },
    failing: [],
    slowest: [],
    near_limit: [],
    held: [],
    processes: [],
    bridges: [],
  };
}

/** The current minute and the one before. Without the one before, it would start at zero each minute. */
function recentSpan(now: Date) {
  const since = after(periodAt(now, MINUTE_MS), -MINUTE_MS);
  return { scope: SERVICE_SCOPE, since, until: after(now, MINUTE_MS) };
}

function viewRecent(points: ActivityPoint[], now: Date) {
  const seconds = (now.getTime() - recentSpan(now).since.getTime()) / 1000;
  return {
    deliveries_per_second: Math.round((10 * sumOf(points, "delivered")) / seconds) / 10,
    ...viewAttempts(points, { isMergeable: true }),
  };
}

function atProcess(problem: Problem, { host, pid }: KnownProcess): Problem {
  return { ...problem, detail: `${problem.detail} (${host}, process ${pid})` };
}

function lagProblem(seconds: number, nextDue: Date | null): Problem[] {
  if (nextDue === null || seconds < LAG_MAX_SECONDS) return [];
  const detail = `The oldest delivery has been due for ${Math.floor(seconds)} s: add dispatchers, or check the database.`;
  return [{ code: "lag", detail, since: after(nextDue, LAG_MAX_SECONDS * 1000).toISOString() }];
}

function processProblems(processes: KnownProcess[], alive: KnownProcess[], now: Date): Problem[] {
  const missed = missedAt(now, processes).map(({ role, host, pid, lastSeenAt }) => ({
    code: "process_gone",
    detail: `A process (${role}, ${host}, process ${pid}) stopped reporting, and none has started in its place: read the end of its log, and start it again.`,
    since: lastSeenAt.toISOString(),
  }));
  if (alive.some(({ role }) => role !== "api")) return missed;
  const last = Math.max(
    ...processes.filter(({ role }) => role !== "api").map((one) => one.lastSeenAt.getTime()),
  );
  const detail = "No process delivers events: start one with ROLE=all or ROLE=dispatcher.";
  const since = Number.isFinite(last) ? new Date(last) : now;
  return [...missed, { code: "no_dispatcher", detail, since: since.toISOString() }];
}

/** During a rollout nodes may have different folders for a short time. */
function folderProblem(nodes: { names: string[] }[]): Omit<Problem, "since">[] {
  const folders = new Set(nodes.map(({ names }) => names.join(",")));
  if (folders.size < 2) return [];
  const detail = `The processes have ${folders.size} different sets of event types: give all of them the same folder in EVENT_TYPES.`;
  return [{ code: "event_types", detail }];
}

function exportProblem(failing: FailingExport | null): Problem[] {
  if (failing === null) return [];
  const { partition, failures, failingSince, lastFailure } = failing;
  const times = failures === 1 ? "once" : `${failures} times`;
  const detail = `EXPORT_COMMAND failed ${times} for ${cut(partition)} (${cut(lastFailure)}): expired history stays on disk. See the log.`;
  return [{ code: "export", detail, since: failingSince.toISOString() }];
}

/** Said before the retention is over, because then it is too late. */
function holdProblem(held: HeldSubscription[], keeping: Keeping, now: Date): Problem[] {
  const near = held.filter(({ heldAt }) => isReleaseNear(heldAt, keeping, now));
  const [first, ...more] = near;
  if (!first) return [];
  const { id, heldAt, organizationSlug } = first;
  const others = more.length === 0 ? "" : ` So are ${more.length} more.`;
  const detail =
    `Subscription ${publicId("wh", id)} of ${organizationSlug} is held: release it by ${releaseBy(heldAt, keeping).toISOString()}. ` +
    `Later its waiting deliveries are older than RETENTION, the log of their attempts expires, and their events stay.${others}`;
  return [{ code: "held", detail, since: heldAt.toISOString() }];
}

/** How long one overview is kept for all callers. */
const OVERVIEW_MS = 1_000;
/** How long the trends are kept, which cost more and change slowly. */
const TRENDS_MS = 10_000;
/** How long the database may take. */
const PATIENCE_MS = 5_000;

type ReaderDeps = Pick<Dependencies, "db" | "clock" | "ownProblems"> & Keeping;

/** One reading. `plain` is without what only gateways need. */
interface Shared {
  endedAt: number | null;
  mergeable: Promise<Overview>;
  plain: Promise<Overview>;
}

/** Reads the overview for all callers, and queries the database at most once a second. */
export class OverviewReader {
  readonly #deps: ReaderDeps;
  readonly #nowMs: () => number;
  readonly #folders = new ProblemLog();
  readonly #database = new ProblemLog();
  #overview: Shared | undefined;
  #trends: { at: number; value: Trends } | undefined;

  constructor(deps: ReaderDeps, nowMs: () => number = () => performance.now()) {
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

  #inTime(): Pick<ReaderDeps, "db" | "clock"> & Keeping {
    return { ...this.#deps, db: this.#deps.db.within(PATIENCE_MS) };
  }
}
