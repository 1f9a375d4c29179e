import { after } from "../lib/clock.ts";
import { repeat } from "../lib/parts.ts";
import type { DatabaseClock } from "../observe/database-clock.ts";
import { isInUse, isTimedOut } from "../postgres/database.ts";
import {
  deleteExpired,
  deleteOldAnswers,
  deleteOldKeys,
  EXPIRIES,
} from "../postgres/expired-rows.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import { publishLimitNotices } from "../subjects/events/limit-notices.ts";
import { ANSWER_KEPT_MS, DEDUPE_MS } from "../subjects/events/rules.ts";
import { recordKeysUsed } from "../subjects/keys/admission.ts";
import { forgetEndedSessions } from "../subjects/operators/sessions.ts";
import { rollUpActivity } from "./activity.ts";
import {
  createPartitions,
  detachExpiredPartitions,
  dropExpiredPartitions,
  endStalled,
} from "./maintenance-sql.ts";

const KEYS_USED_MS = 10_000;
const LIMITED_MS = 1_000;
const CLOCK_MS = 10_000;
const SESSIONS_MS = 600_000;
const EXPIRED_KEYS_MS = 60_000;
const PARTITIONS_MAX_MS = 600_000;

/** Repeats the service's upkeep: partitions, expiry, roll-up, use of keys, the clock, and sessions that stand still. */
export function startMaintenance(
  deps: Dependencies,
  clock: DatabaseClock,
  {
    exportsHistory,
    retentionMs,
    standstillMs,
    onError,
    onInUse,
    onStalled,
  }: {
    exportsHistory: boolean;
    retentionMs: number;
    /** How long a process that holds locks may stand still. */
    standstillMs: number;
    onError: (error: unknown) => void;
    onInUse: () => void;
    onStalled: (sessions: number) => void;
  },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const intervalMs = partitionsIntervalMs(retentionMs);
  const options = { exportsHistory, onInUse, signal: stopping.signal };
  const repeated = [
    every(intervalMs, () => maintainPartitions(deps, options)),
    every(KEYS_USED_MS, () => recordKeysUsed(deps)),
    every(SESSIONS_MS, () => forgetEndedSessions(deps, stopping.signal)),
    every(EXPIRED_KEYS_MS, () => deleteExpiredKeys(deps, stopping.signal)),
    every(intervalMs, () => rollUpActivity(deps, stopping.signal)),
    every(LIMITED_MS, () => publishLimitNotices(deps)),
    every(CLOCK_MS, () => clock.measure()),
    every(standstillMs / 2, async () => {
      const sessions = await endStalled(deps.db, standstillMs);
      if (sessions > 0) onStalled(sessions);
    }),
  ];
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(repeated.map((stop) => stop()));
      await recordKeysUsed(deps).catch(onError);
      await publishLimitNotices(deps).catch(onError);
    },
  };

  function every(ms: number, work: () => Promise<void>): () => Promise<void> {
    return repeat(ms, work, onError);
  }
}

/** The time between two runs of the partitions' maintenance. */
export function partitionsIntervalMs(retentionMs: number): number {
  return Math.min(PARTITIONS_MAX_MS, Math.max(1_000, retentionMs / 60));
}

/**
 * Creates the next partitions and drops expired ones, or detaches them for their export. Both wait while another session, such
 * as a backup, uses the tables for long. Until then, new rows go to the default partitions. A statement that takes too long is
 * an error of its own, so it does not count as an outage (`isUnavailable`). After `signal` aborts, stops before the next
 * transaction.
 */
export async function maintainPartitions(
  deps: Pick<Dependencies, "db" | "clock">,
  {
    exportsHistory,
    onInUse,
    signal,
  }: { exportsHistory: boolean; onInUse: () => void; signal?: AbortSignal },
): Promise<void> {
  const { clock } = deps;
  const db = deps.db.within(PARTITIONS_MAX_MS);
  try {
    await createPartitions(db, clock(), signal);
    const endExpired = exportsHistory ? detachExpiredPartitions : dropExpiredPartitions;
    await endExpired(db, clock(), signal);
    for (const expiry of EXPIRIES) {
      while (!signal?.aborted && (await deleteExpired(db, expiry, clock())));
    }
  } catch (error) {
    if (isInUse(error)) onInUse();
    else
      throw isTimedOut(error)
        ? new Error("creating and dropping partitions took too long", { cause: error })
        : error;
  }
}

/** Allows for wrong clocks, so that no key is deleted while it is valid for another process. */
const EXPIRY_MARGIN_MS = 60_000;

/** Deletes expired dedupe keys and kept answers in short statements, until none is left or `signal` aborts. */
export async function deleteExpiredKeys(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  signal?: AbortSignal,
): Promise<void> {
  const kept = after(clock(), -ANSWER_KEPT_MS - EXPIRY_MARGIN_MS);
  const taken = after(clock(), -DEDUPE_MS - EXPIRY_MARGIN_MS);
  while (!signal?.aborted && (await deleteOldKeys(db, taken)));
  while (!signal?.aborted && (await deleteOldAnswers(db, kept)));
}
