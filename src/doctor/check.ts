/** A check of `doctor`. Returns its finding. Throws if something must be repaired. */
export type Check = [what: string, check: () => Promise<string | Doubt>];

/** Something that works but is unfit for production. */
export interface Doubt {
  doubt: string;
}
