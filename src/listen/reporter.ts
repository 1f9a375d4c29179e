import type { Arrival } from "./arrival.ts";

/** What a receiver tells of. */
export interface Reporter {
  opened(receiver: { url: string; caFile: string }): void;
  arrived(arrival: Arrival): void;
  /** The sender hung up before it was answered. */
  gone(arrival: Arrival, waitedMs: number): void;
  /** A connection brought no request; null: it was closed without a word. */
  noRequest(code: string | null): void;
}
