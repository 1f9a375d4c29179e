import { setTimeout as sleep } from "node:timers/promises";
import { batch } from "../lib/batch.ts";

/** Attempts that one statement records. */
const BATCH_MAX = 500;
/** As many do not wait for more. */
const ENOUGH = 64;
/** How long an outcome waits for others. Nobody waits for its record: the attempt's slot is free already. */
const WAIT_MS = 50;
const RETRY_MS = 250;

/** The cause, if an item was not written. */
interface Unwritten {
  error: unknown;
}

/**
 * Writes outcomes in batches, in the order in which the attempts ended. While the database is unavailable it retries for
 * `giveUpAfterMs`. Then the leases have expired, and the deliveries of the batch are attempted again. An item that the database
 * refuses does not stop the others.
 */
export function createRecorder<Item>(
  write: (items: Item[]) => Promise<void>,
  {
    slots,
    isTransient,
    onRetry,
    giveUpAfterMs,
  }: {
    /** Of the dispatcher. It begins no attempt while twice as many outcomes wait. */
    slots: number;
    isTransient: (error: unknown) => boolean;
    onRetry: (error: unknown) => void;
    giveUpAfterMs: number;
  },
): (item: Item) => Promise<void> {
  const batched = batch<Item, Unwritten | null>(persist, {
    max: BATCH_MAX,
    enough: Math.min(ENOUGH, slots),
    waitMs: WAIT_MS,
    waitingMax: Infinity, // The dispatcher bounds it. A refused outcome would mean a second attempt.
  });
  return async (item) => {
    const unwritten = await batched(item);
    if (unwritten) throw unwritten.error;
  };

  /** If the database refuses the items, tries each half by itself, down to single items. */
  async function persist(items: Item[]): Promise<(Unwritten | null)[]> {
    const unwritten = await writeWithRetries(items);
    if (unwritten === null || isTransient(unwritten.error) || items.length === 1) {
      return items.map(() => unwritten);
    }
    const half = Math.ceil(items.length / 2);
    const first = await persist(items.slice(0, half));
    return [...first, ...(await persist(items.slice(half)))];
  }

  async function writeWithRetries(items: Item[]): Promise<Unwritten | null> {
    const began = performance.now();
    for (;;) {
      try {
        await write(items);
        return null;
      } catch (error) {
        if (!isTransient(error) || performance.now() - began >= giveUpAfterMs) return { error };
        onRetry(error);
        await sleep(RETRY_MS);
      }
    }
  }
}
