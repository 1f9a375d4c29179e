import { faultsOf } from "../ledger/balance.ts";
import { runLedger, type Run } from "../ledger/ledger.ts";
import type { Plan } from "../ledger/plan.ts";
import { type Fault, FAULTS, openCluster } from "./cluster.ts";

/** The time in which a request must succeed after there is a new primary. */
export const RECOVERY_MS = 3_000;

const QUIET = { kills: 0, pauses: 0, subscriptions: 20, callsThroughHarm: true };

/** Five kills of the primary, three switchovers, a frozen primary that is killed, and a lost synchronous standby. */
export const FULL = {
  plan: { ...QUIET, events: 6_000, overMs: 300_000, databaseKills: 10, limitMs: 30 * 60_000 },
  faults: ["kill", "switchover", "kill", "freeze", "kill", "switchover", "kill", "standby"].concat([
    ...["switchover", "kill"],
  ]) as Fault[],
};

/** One fault of each kind. */
export const SHORT = {
  plan: { ...QUIET, events: 1_500, overMs: 90_000, databaseKills: 4, limitMs: 15 * 60_000 },
  faults: [...FAULTS],
};

export interface Failover {
  fault: string;
  /** The time from the fault to a new primary or synchronous standby. */
  awayMs: number;
  /** The time from then until a request succeeded. */
  recoveryMs: number;
}

export async function runFailover(
  { plan, faults }: { plan: Omit<Plan, "seed">; faults: Fault[] },
  seed: number,
  stop: AbortSignal,
): Promise<{ run: Run; failovers: Failover[]; complaints: string[] }> {
  const run = await runLedger({ ...plan, seed }, stop, (afterwards, folder) =>
    openCluster(afterwards, folder, faults),
  );
  const failovers = run.harms.map(({ fault = "", from, until }) => ({
    fault,
    awayMs: until - from,
    recoveryMs:
      Math.min(...run.called.accepted.map(({ at }) => at).filter((at) => at >= until)) - until,
  }));
  const slow = failovers.filter(({ recoveryMs }) => recoveryMs > RECOVERY_MS);
  const complaints = [
    ...faultsOf(run.balance),
    ...run.errors,
    ...slow.map((one) => `requests failed for too long: ${JSON.stringify(one)}`),
  ];
  return { run, failovers, complaints };
}
