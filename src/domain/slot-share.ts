import type { SubscriptionId } from "./ids.ts";

/** The number of slots that a dispatcher has for one subscription. */
export interface Share {
  subscriptionId: SubscriptionId;
  share: number;
}

/** The part of all slots that only holders below their share may take. */
const RESERVED = 1 / 10;

export interface Holding {
  /** All slots. */
  total: number;
  free: number;
  /** The number of holders that hold or wait for slots, this one included. */
  holders: number;
  /** The slots that this one holds. */
  held: number;
}

/**
 * Returns how many slots a holder may take up to its share: nine tenths of all slots, divided by the number of holders. A
 * holder takes at most nine tenths of the slots that others do not hold. So some are left for the next one, even if many arrive
 * together (dynamic thresholds, Choudhury and Hahne 1998). A holder of nothing may take one.
 */
export function belowShare({ total, free, holders, held }: Holding): number {
  const share = Math.max(1, Math.floor((total - reserveOf(total)) / holders));
  const least = held === 0 ? Math.min(1, free) : 0;
  const threshold = Math.max(least, Math.floor(free * (1 - RESERVED) - held * RESERVED));
  return Math.max(0, Math.min(share - held, threshold));
}

/** Returns how many slots a holder may take beyond its share. */
export function beyondShare({ total, free }: Pick<Holding, "total" | "free">): number {
  return Math.max(0, free - reserveOf(total));
}

function reserveOf(total: number): number {
  return Math.floor(total * RESERVED);
}
