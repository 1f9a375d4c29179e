import { faultsOf } from "../ledger/balance.ts";
import { runLedger, type Run } from "../ledger/ledger.ts";
import type { Plan } from "../ledger/plan.ts";
import { type Fault, FAULTS, openCluster } from "./cluster.ts";

/** The time in which a request must succeed after there is a new primary. */
const RECOVERY_MS = 3_000;

/** No other fault than those of the cluster. */
const QUIET = { kills: 0, pauses: 0, subscriptions: 20, callsThroughHarm: true };

/** What a run does to the cluster, and under what load. */
export interface Size {
  plan: Omit<Plan, "seed">;
  faults: readonly Fault[];
}

/** Five kills of the primary, three switchovers, a frozen primary that is killed, and a lost synchronous standby. */
export const FULL: Size = {
  plan: { ...QUIET, events: 6_000, overMs: 300_000, databaseKills: 10, limitMs: 30 * 60_000 },
  faults: [
    ...(["kill", "switchover", "kill", "freeze", "kill"] as const),
    ...(["switchover", "kill", "standby", "switchover", "kill"] as const),
  ],
};

/** One fault of each kind. */
export const EACH: Size = {
  plan: { ...QUIET, events: 1_500, overMs: 90_000, databaseKills: 4, limitMs: 15 * 60_000 },
  faults: FAULTS,
};

/** A run that fits into the test suite. The kill comes last, because no fault waits for its victim to be back. */
export const SHORT: Size = {
  plan: { ...QUIET, events: 200, overMs: 10_000, databaseKills: 2, limitMs: 4 * 60_000 },
  faults: ["switchover", "kill"],
};

export interface Failover {
  fault: string;
  /** The time from the fault to a new primary or synchronous standby. */
  awayMs: number;
  /** The time from then until a request succeeded. */
  recoveryMs: number;
}

export async function runFailover(
  { plan, faults }: Size,
  seed: number,
  stop: AbortSignal,
): Promise<{ run: Run; failovers: Failover[]; complaints: string[] }> {
  const run = await runLedger({ ...plan, seed }, stop, (afterwards, folder) =>
    openCluster(afterwards, folder, faults),
  );
  const inOrder = run.harms.toSorted((a, b) => a.from - b.from);
  const failovers = inOrder.map(({ fault = "", from, until }) => ({
    fault,
    awayMs: until - from,
    recoveryMs:
      Math.min(...run.called.accepted.map(({ at }) => at).filter((at) => at >= until)) - until,
  }));
  return { run, failovers, complaints: [...faultsOf(run.balance), ...run.errors] };
}

/** The failovers after which requests failed for too long. A busy machine is slow, so the short run does not ask. */
export function slowOf(failovers: readonly Failover[]): string[] {
  return failovers
    .filter(({ recoveryMs }) => recoveryMs > RECOVERY_MS)
    .map((one) => `requests failed for too long: ${JSON.stringify(one)}`);
}
