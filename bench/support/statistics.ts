/** The value that `share` of all values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Of an odd number of rounds the one whose value is in the middle. */
export function middleOf<Round>(rounds: readonly Round[], value: (round: Round) => number): Round {
  const middle = rounds.toSorted((a, b) => value(a) - value(b))[Math.floor(rounds.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}
