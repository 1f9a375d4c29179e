/** Returns the value that a `share` of all values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Returns the round with the median ratio. */
export function middleOf<Round extends { ratio: number }>(rounds: readonly Round[]): Round {
  const ascending = rounds.toSorted((a, b) => a.ratio - b.ratio);
  const middle = ascending[Math.floor(ascending.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}
