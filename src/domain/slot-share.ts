/** The part of all slots that only those who hold less than their share may take. */
const RESERVED = 1 / 10;

/**
 * How many more slots a holder may take, at most `free`.
 *
 * While more than the reserved tenth is free, anybody may take the rest. The reserve is for holders below their share, which
 * is nine tenths of all slots over the number of holders. None of them takes more than nine tenths of what nobody else holds,
 * so something is left for the next one (dynamic thresholds, Choudhury and Hahne 1998). A holder of nothing may take one.
 */
export function allowance({
  total,
  free,
  holders,
  held,
}: {
  total: number;
  free: number;
  /** Those that hold slots or wait for one, this one included. */
  holders: number;
  held: number;
}): number {
  const reserve = reservedOf(total);
  const belowShare = Math.max(1, Math.floor((total - reserve) / holders)) - held;
  const least = held === 0 ? Math.min(1, free) : 0;
  const threshold = Math.max(least, Math.floor(free * (1 - RESERVED) - held * RESERVED));
  return Math.max(0, free - reserve, Math.min(belowShare, threshold));
}

export function reservedOf(total: number): number {
  return Math.floor(total * RESERVED);
}
