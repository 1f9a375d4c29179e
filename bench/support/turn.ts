import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "./monotonic.ts";
import type { Rig } from "./rig.ts";

/** What stands still but in its turns. */
export interface Party {
  pause: () => void;
  resume: () => void;
}

export interface Turn {
  requests: number;
  ms: number;
}

/** In this time the receivers have taken what was on its way to them when a turn ended. */
const SETTLED_MS = 30;

/** Lets one send to the receivers for so long, or for as long as it has anything to send. */
export async function turnOf(rig: Rig, party: Party, ms: number): Promise<Turn> {
  const { process: receiver } = rig.receivers;
  await receiver.ask("reset", {});
  party.resume();
  await sleep(ms);
  party.pause();
  const ended = monotonicMs();

  await sleep(SETTLED_MS);
  const { requests, firstMs, lastMs } = await receiver.ask("count");
  return { requests, ms: Math.min(ended, lastMs) - firstMs };
}

export function perSecond(turns: readonly Turn[]): number {
  const sum = (of: (turn: Turn) => number) => turns.reduce((all, turn) => all + of(turn), 0);
  return (sum((turn) => turn.requests) * 1000) / sum((turn) => turn.ms);
}
