import { SERVICE_SCOPE, MINUTE_MS, periodAt } from "../domain/activity.ts";
import { after } from "../domain/clock.ts";
import { type Latency, latencyOf, mergeHistograms } from "../domain/latency-histogram.ts";
import {
  LAG_MAX_SECONDS,
  mergeProblems,
  type Problem,
  type ProblemLog,
  type ServiceStatus,
  statusOf,
} from "../domain/overview.ts";
import { missedAt, processStateAt } from "../domain/process.ts";
import { listActivity, rankSubscriptions, sumActivity } from "../postgres/activity.ts";
import { type Backlog, countBacklog, findNextDueOf } from "../postgres/backlog.ts";
import { listNodes } from "../postgres/event-types.ts";
import { type FailingExport, findFailingExport } from "../postgres/history-exports.ts";
import type { ProcessRow } from "../postgres/processes.ts";
import type { Dependencies } from "./dependencies.ts";
import { NODE_UNSEEN_MS } from "./event-types.ts";
import { listKnownProcesses } from "./processes.ts";
import { histogramOf, shareOf } from "./views/activity.ts";
import { type ProcessView, viewProcess } from "./views/process.ts";
import { type RankedView, viewRanked } from "./views/ranked-subscription.ts";

/** The overview for operators. Members of `now` and `last_24h` are null while the database is unavailable. */
export interface Overview {
  status: ServiceStatus;
  problems: Problem[];
  now: {
    deliveries_per_second: number | null;
    success_share: number | null;
    attempt_ms: Latency;
    waiting: Backlog | { due: null; scheduled: null; estimated: false };
    oldest_due_seconds: number | null;
    attempts_under_way: number | null;
  };
  last_24h: Record<
    "published" | "delivered" | "dead_lettered" | "cancelled" | "disabled",
    number | null
  >;
  failing: RankedView[];
  slowest: RankedView[];
  processes: ProcessView[];
}

export type Trends = Pick<Overview, "last_24h" | "failing" | "slowest">;

type Deps = Pick<Dependencies, "db" | "clock">;

/** The length of each of the two lists, and the time span of their ranking. */
const RANKED_MAX = 10;
const RANKED_OVER_MS = 60 * MINUTE_MS;
const DAY_MS = 1_440 * MINUTE_MS;

/** Returns the sums and lists that change slowly. They may be cached for some seconds. */
export async function findTrends({ db, clock }: Deps): Promise<Trends> {
  const now = clock();
  const ranked = { since: after(now, -RANKED_OVER_MS), limit: RANKED_MAX };
  const day = { scope: SERVICE_SCOPE, since: after(now, -DAY_MS), until: after(now, MINUTE_MS) };
  const [sums, failing, slowest] = await Promise.all([
    sumActivity(db, day),
    rankSubscriptions(db, "failing", ranked),
    rankSubscriptions(db, "slowest", ranked),
  ]);
  const { published, delivered, dead_lettered, cancelled, disabled } = sums;
  return {
    last_24h: { published, delivered, dead_lettered, cancelled, disabled },
    failing: failing.map(viewRanked),
    slowest: slowest.map(viewRanked),
  };
}

/**
 * Returns the status of the service and its present activity. `checks` are the failed checks of this process. `folders`
 * remembers since when the processes know different event types.
 */
export async function findOverview(
  { db, clock }: Deps,
  { checks, trends, folders }: { checks: readonly Problem[]; trends: Trends; folders: ProblemLog },
): Promise<Overview> {
  const now = clock();
  const [recent, waiting, nextDue, processes, nodes, failingExport] = await Promise.all([
    findRecent({ db }, now),
    countBacklog(db, null, now),
    findNextDueOf(db, null, now),
    listKnownProcesses({ db, clock }),
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
  ]);
  return {
    status: statusOf(problems),
    problems,
    now: {
      ...recent,
      waiting,
      oldest_due_seconds: Math.floor(lagSeconds),
      attempts_under_way: alive.reduce((sum, one) => sum + one.attempts_under_way, 0),
    },
    ...trends,
    processes: processes.map((one) => viewProcess(one, now)),
  };
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
      waiting: { due: null, scheduled: null, estimated: false },
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
    processes: [],
  };
}

/** Returns the sums of the current minute and the one before. The current one alone would start at zero each minute. */
async function findRecent({ db }: Pick<Deps, "db">, now: Date) {
  const since = after(periodAt(now, MINUTE_MS), -MINUTE_MS);
  const span = { scope: SERVICE_SCOPE, since, until: after(now, MINUTE_MS) };
  const points = await listActivity(db, span, MINUTE_MS);
  const sum = (name: "succeeded" | "failed" | "delivered") =>
    points.reduce((total, point) => total + point[name], 0);
  const seconds = (now.getTime() - since.getTime()) / 1000;
  return {
    deliveries_per_second: Math.round((10 * sum("delivered")) / seconds) / 10,
    success_share: shareOf(sum("succeeded"), sum("failed")),
    attempt_ms: latencyOf(mergeHistograms(points.map((point) => histogramOf(point.attempt_ms)))),
  };
}

function atProcess(problem: Problem, { host, pid }: ProcessRow): Problem {
  return { ...problem, detail: `${problem.detail} (${host}, process ${pid})` };
}

function lagProblem(seconds: number, nextDue: Date | null): Problem[] {
  if (nextDue === null || seconds < LAG_MAX_SECONDS) return [];
  const detail = `The oldest delivery has been due for ${Math.floor(seconds)} s: add dispatchers, or check the database.`;
  return [{ code: "lag", detail, since: after(nextDue, LAG_MAX_SECONDS * 1000).toISOString() }];
}

function processProblems(processes: ProcessRow[], alive: ProcessRow[], now: Date): Problem[] {
  const missed = missedAt(now, processes).map(({ role, host, pid, last_seen_at }) => ({
    code: "process_gone",
    detail: `A process (${role}, ${host}, process ${pid}) stopped reporting, and none has started in its place.`,
    since: last_seen_at.toISOString(),
  }));
  if (alive.some(({ role }) => role !== "api")) return missed;
  const last = Math.max(
    ...processes.filter(({ role }) => role !== "api").map((one) => one.last_seen_at.getTime()),
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
  const { partition, failures, failing_since, last_failure } = failing;
  const times = failures === 1 ? "once" : `${failures} times`;
  const detail = `EXPORT_COMMAND failed ${times} for ${partition} (${last_failure}): expired history stays on disk. See the log.`;
  return [{ code: "export", detail, since: failing_since.toISOString() }];
}
