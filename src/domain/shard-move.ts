/** The result of a move. */
export interface Moved {
  shard: string;
  /** Where the shard is now, without credentials. */
  to: string;
  tables: number;
  rows: number;
  /** How long writers waited before the old place was left. */
  waited_ms: number;
}
