/** The status of the service. `down`: nothing is accepted or nothing is delivered. */
export const SERVICE_STATUSES = ["ok", "degraded", "down"] as const;
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];

/** A reason why the service is not well. `since` is ISO 8601. */
export interface Problem {
  code: string;
  detail: string;
  since: string;
}

/** Problems that stop all publishing or all deliveries. */
const FATAL = new Set(["database", "no_dispatcher"]);

/** A due delivery should not wait longer. */
export const LAG_MAX_SECONDS = 60;

export function statusOf(problems: readonly Problem[]): ServiceStatus {
  if (problems.length === 0) return "ok";
  return problems.some(({ code }) => FATAL.has(code)) ? "down" : "degraded";
}

/** A readiness check, as `/readyz` reports it. */
export interface Check {
  name: string;
  ok: boolean;
  detail?: string;
}

/** Remembers the start of each problem. */
export class ProblemLog {
  #since = new Map<string, string>();

  /** Adds to each problem the time since which this log has seen it in every call. */
  date(found: readonly Omit<Problem, "since">[], now: Date): Problem[] {
    const before = this.#since;
    const problems = found.map((one) => ({
      ...one,
      since: before.get(one.code) ?? now.toISOString(),
    }));
    this.#since = new Map(problems.map(({ code, since }) => [code, since]));
    return problems;
  }
}

/** The meaning of failed checks whose name says too little. */
const MEANINGS = new Map([["database", "The database is unavailable"]]);

/** Returns a problem for each failed check. */
export function problemsOf(checks: readonly Check[]): Omit<Problem, "since">[] {
  return checks
    .filter(({ ok }) => !ok)
    .map(({ name, detail }) => ({
      code: name,
      detail: `${MEANINGS.get(name) ?? name}${detail === undefined ? "" : `: ${detail}`}`,
    }));
}

/** Returns each code once, with the earliest time. Problems that stop everything come first, then the oldest. */
export function mergeProblems(problems: readonly Problem[]): Problem[] {
  const byCode = new Map<string, Problem>();
  for (const one of problems) {
    const known = byCode.get(one.code);
    if (known === undefined) byCode.set(one.code, one);
    else if (one.since < known.since) byCode.set(one.code, { ...known, since: one.since });
  }
  const isMinor = ({ code }: Problem) => Number(!FATAL.has(code));
  return [...byCode.values()].sort(
    (a, b) => isMinor(a) - isMinor(b) || (a.since < b.since ? -1 : 1),
  );
}
