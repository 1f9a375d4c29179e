import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "./monotonic.ts";
import type { Rig } from "./rig.ts";

/** Something that can be paused between its turns. */
export interface Pausable {
  pause: () => void;
  resume: () => void;
}

export interface Turn {
  requests: number;
  ms: number;
}

/** The time until everything in transit at the end of a turn has arrived. */
const SETTLED_MS = 30;

/** Lets one pausable send to the receivers for this time, or until it has nothing left to send. */
export async function turnOf(rig: Rig, pausable: Pausable, ms: number): Promise<Turn> {
  const { process: receiver } = rig.receivers;
  await receiver.ask("reset", {});
  pausable.resume();
  await sleep(ms);
  pausable.pause();
  const ended = monotonicMs();

  await sleep(SETTLED_MS);
  const { requests, firstMs, lastMs } = await receiver.ask("count");
  return { requests, ms: Math.min(ended, lastMs) - firstMs };
}

export function perSecond(turns: readonly Turn[]): number {
  const sum = (of: (turn: Turn) => number) => turns.reduce((all, turn) => all + of(turn), 0);
  return (sum((turn) => turn.requests) * 1000) / sum((turn) => turn.ms);
}
