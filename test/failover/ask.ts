import { setTimeout as sleep } from "node:timers/promises";
import type { Afterwards } from "../ledger/afterwards.ts";

const POLL_MS = 50;

/** The body of a 200. Null for any other answer or none in time. */
export async function ask(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    const body = await response.text();
    return response.ok ? body : null;
  } catch {
    return null;
  }
}

/** Asks again and again until it holds. Throws when the run is over. */
export async function untilHolds(run: Afterwards, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    if (run.isOver) throw new Error("the run is over");
    await sleep(POLL_MS);
  }
}
