import { faultsOf } from "../ledger/balance.ts";
import { runLedger, type Run } from "../ledger/ledger.ts";
import type { Plan } from "../ledger/plan.ts";
import { type Fault, FAULTS, openCluster } from "./cluster.ts";
import { areNamespacesPossible } from "./network.ts";

/** The time in which a request must succeed after there is a new primary. */
const RECOVERY_MS = 3_000;

/** The faults of a run, and its load. */
export interface Size {
  plan: Omit<Plan, "seed">;
  faults: readonly Fault[];
  isBehindHaproxy?: boolean;
}

function sizeOf(
  faults: readonly Fault[],
  plan: Pick<Plan, "events" | "overMs" | "limitMs" | "subscriptions">,
): Size {
  const others = { kills: 0, pauses: 0, databaseKills: faults.length, callsThroughHarm: true };
  return { plan: { ...plan, ...others }, faults };
}

const MINUTE = 60_000;

/** Five kills of the primary, three switchovers, and each other fault once. */
export const FULL = sizeOf(
  [
    ...(["kill", "switchover", "kill", "freeze", "kill", "wake", "switchover"] as const),
    ...(["kill", "etcd", "standby", "switchover", "partition", "kill"] as const),
  ],
  { events: 8_000, overMs: 6 * MINUTE, subscriptions: 20, limitMs: 30 * MINUTE },
);

/** One fault of each kind. */
export const EACH = sizeOf(FAULTS, {
  ...{ events: 2_000, overMs: 2 * MINUTE, subscriptions: 20, limitMs: 20 * MINUTE },
});

/** A run that fits into the test suite. The kill comes last, because no fault waits for its victim to be back. */
export const SHORT = sizeOf(["switchover", "kill"], {
  ...{ events: 200, overMs: 10_000, subscriptions: 8, limitMs: 4 * MINUTE },
});

/** The same size with other faults. */
export function withFaults(size: Size, faults: readonly Fault[]): Size {
  return { ...size, ...sizeOf(faults, size.plan) };
}

/** Without the partition, if this machine allows us no network namespaces. */
export async function whatIsPossible(size: Size): Promise<Size> {
  if (await areNamespacesPossible()) return size;
  return withFaults(
    size,
    size.faults.filter((fault) => fault !== "partition"),
  );
}

export interface Failover {
  fault: string;
  /** The time from the fault to a new primary or synchronous standby. */
  awayMs: number;
  /** The time from then until a request succeeded. */
  recoveryMs: number;
}

export async function runFailover(
  size: Size,
  seed: number,
  stop: AbortSignal,
): Promise<{ run: Run; failovers: Failover[]; complaints: string[] }> {
  const run = await runLedger({ ...size.plan, seed }, stop, (afterwards, folder) =>
    openCluster(afterwards, folder, size),
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
