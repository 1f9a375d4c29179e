/** A check of `doctor`. Returns what it found. Throws if something has to be repaired. */
export type Check = [what: string, check: () => Promise<string | Doubt>];

/** Something that works but is unfit for production. */
export interface Doubt {
  doubt: string;
}
