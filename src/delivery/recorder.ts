import { setTimeout as sleep } from "node:timers/promises";
import { gather } from "../actions/gather.ts";

/** Attempts that one statement records at the most. */
const BATCH_MAX = 500;
const RETRY_MS = 250;
/** Nobody waits for a record: the hand that made the attempt is free already. */
const PACE_MS = 10;

/** Why something was not written. */
interface Unwritten {
  error: unknown;
}

/**
 * Writes what ended together, one batch at a time, so that outcomes apply in the order in which they came. While
 * the database is away it tries again until `giveUpAfterMs` have passed: then the leases are over, and every
 * delivery of the batch is attempted once more. What the database refuses keeps nothing else from being written.
 */
export function createRecorder<Item>(
  write: (items: Item[]) => Promise<void>,
  {
    isTransient,
    onRetry,
    giveUpAfterMs,
  }: {
    isTransient: (error: unknown) => boolean;
    onRetry: (error: unknown) => void;
    giveUpAfterMs: number;
  },
): (item: Item) => Promise<void> {
  const gathered = gather<Item, Unwritten | null>(persist, {
    max: BATCH_MAX,
    paceMs: PACE_MS,
    waitingMax: Infinity, // The dispatcher bounds it: an outcome turned away here would be an attempt made twice.
  });
  return async (item) => {
    const unwritten = await gathered(item);
    if (unwritten) throw unwritten.error;
  };

  /** Halves what is refused, until only what is refused for its own sake is left. */
  async function persist(items: Item[]): Promise<(Unwritten | null)[]> {
    const unwritten = await insist(items);
    if (unwritten === null || isTransient(unwritten.error) || items.length === 1) {
      return items.map(() => unwritten);
    }
    const half = Math.ceil(items.length / 2);
    const first = await persist(items.slice(0, half));
    return [...first, ...(await persist(items.slice(half)))];
  }

  async function insist(items: Item[]): Promise<Unwritten | null> {
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
