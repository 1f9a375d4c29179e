import { setTimeout as sleep } from "node:timers/promises";
import { gather } from "../actions/gather.ts";

/** Attempts that one statement records at the most. */
const BATCH_MAX = 500;
const RETRY_MS = 250;
/** Nobody waits for a record: the hand that made the attempt is free already. */
const PACE_MS = 10;

/**
 * Writes what ended together, one batch at a time, so that outcomes apply in the order in which they came. While
 * the database is away it tries again until `giveUpAfterMs` have passed: then the leases are over, and every
 * delivery of the batch is attempted once more.
 */
export function createRecorder<Item>(
  write: (items: Item[]) => Promise<void>,
  {
    isTransient,
    giveUpAfterMs,
  }: { isTransient: (error: unknown) => boolean; giveUpAfterMs: number },
): (item: Item) => Promise<void> {
  return gather<Item, undefined>(
    async (items) => {
      await persist(items);
      return items.map(() => undefined);
    },
    { max: BATCH_MAX, paceMs: PACE_MS },
  );

  async function persist(items: Item[]): Promise<void> {
    const began = performance.now();
    for (;;) {
      try {
        await write(items);
        return;
      } catch (error) {
        if (!isTransient(error) || performance.now() - began >= giveUpAfterMs) throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}
