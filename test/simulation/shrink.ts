/** Removes parts of a list, in ever smaller pieces, while `fails` holds. Stops after a number of attempts. */
export async function shrink<Item>(
  items: Item[],
  fails: (fewer: Item[]) => Promise<boolean>,
  tries = 400,
): Promise<Item[]> {
  let kept = items;
  let left = tries;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < kept.length && left > 0; left--) {
      const fewer = kept.toSpliced(start, size);
      if (await fails(fewer)) kept = fewer;
      else start += size;
    }
  }
  return kept;
}
