import { setTimeout as sleep } from "node:timers/promises";
import { fillQueue } from "./queue.ts";
import type { Rig, Stage } from "./rig.ts";

const REFILL = 500;
const PAUSE_MS = 20;

/** Deliveries a second while the queue keeps its length: what is delivered is made up for. */
export async function rateAtLevel(
  rig: Rig,
  stage: Stage,
  { warmUpMs, ms }: { warmUpMs: number; ms: number },
): Promise<number> {
  const { process: receiver } = rig.receivers;
  const filled = { all: 0 };
  await receiver.ask("reset", {});
  await refill(warmUpMs);
  const [before, since] = [await receiver.ask("count"), performance.now()];
  await refill(ms);
  const [after, until] = [await receiver.ask("count"), performance.now()];
  return ((after.requests - before.requests) * 1000) / (until - since);

  async function refill(forMs: number): Promise<void> {
    const until = performance.now() + forMs;
    while (performance.now() < until) {
      const { requests } = await receiver.ask("count");
      const missing = requests - filled.all;
      if (missing < REFILL) {
        await sleep(PAUSE_MS);
      } else {
        filled.all += missing;
        await fillQueue(stage.db, stage.subscriptions, missing);
      }
    }
  }
}
