import { setTimeout as sleep } from "node:timers/promises";
import { countDeliveries, fillQueue } from "./queue.ts";
import type { Rig, Stage } from "./rig.ts";

const LIMIT_MS = 60_000;
const POLL_MS = 100;
const SETTLED_WITHIN_MS = 10_000;

/** Puts that many events into the queue at once and waits until the service has delivered them. */
export async function drain(rig: Rig, stage: Stage, count: number): Promise<void> {
  const { process: receiver } = rig.receivers;
  await receiver.ask("reset", {});
  await fillQueue(stage.db, stage.subscriptions, count);
  await receiver.ask("reached", count, LIMIT_MS);
}

/** Throws unless the history holds exactly this many deliveries with one attempt each. */
export async function requireDelivered({ db }: Stage, count: number): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const { waiting, delivered, attempts } = await countDeliveries(db);
    if (waiting === 0 && delivered === count && attempts === count) return;
    if (waitedMs >= SETTLED_WITHIN_MS) {
      throw new Error(
        `of ${count} deliveries ${delivered} are delivered and ${waiting} wait, with ${attempts} attempts`,
      );
    }
    await sleep(POLL_MS);
  }
}
