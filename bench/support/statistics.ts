/** The value that `share` of all values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Of rounds that each measured two things in turn, the one whose ratio is in the middle. */
export function middleOf<Round extends { ratio: number }>(rounds: readonly Round[]): Round {
  const ascending = rounds.toSorted((a, b) => a.ratio - b.ratio);
  const middle = ascending[Math.floor(ascending.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}
