import type { Arrival } from "./arrival.ts";

/** Shows what happens at a receiver. */
export interface Reporter {
  opened(receiver: { url: string; caFile: string }): void;
  arrived(arrival: Arrival): void;
  /** The sender closed the connection before the reply. */
  gone(arrival: Arrival, waitedMs: number): void;
  /** A connection brought no request. `code` is null if it was closed without an error. */
  noRequest(code: string | null): void;
}
