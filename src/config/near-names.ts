/** An unknown variable, and the variable of ours that was probably meant. */
export interface Misspelt {
  name: string;
  meant: string;
}

/** Short names are similar to many others: `HOME` is two letters away from `HOST`. */
const SHORT = 8;

/** Finds variables whose names differ from ours only in case, or by a letter or two. */
export function findMisspelt(given: string[], ours: string[]): Misspelt[] {
  const known = new Set(ours);
  return given
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const meant = nearest(name, ours);
      return meant === undefined || given.includes(meant) ? [] : [{ name, meant }];
    });
}

function nearest(name: string, ours: string[]): string | undefined {
  const written = plain(name);
  const near = ours
    .map((meant) => ({ meant, letters: distance(written, plain(meant)) }))
    .filter(({ meant, letters }) => letters <= (meant.length < SHORT ? 1 : 2));
  return near.toSorted((a, b) => a.letters - b.letters)[0]?.meant;
}

/** `retry-delays` and `RetryDelays` are spellings of `RETRY_DELAYS`. */
function plain(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, "");
}

/** Returns how many letters to add, remove or replace (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}
