/** Something that `doctor` looks at. Returns what it found, and throws what has to be repaired. */
export type Check = [what: string, check: () => Promise<string | Doubt>];

/** What works, and should not stay so in production. */
export interface Doubt {
  doubt: string;
}
