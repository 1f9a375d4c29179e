import type { Arrival } from "./arrival.ts";
import type { Replayed } from "./replay.ts";

/** Shows what happens at a receiver. */
export interface Reporter {
  opened(receiver: { url: string; caFile: string; trustCommand: string }): void;
  arrived(arrival: Arrival): void;
  /** The sender closed the connection before the reply. */
  gone(arrival: Arrival, waitedMs: number): void;
  /** A connection brought no request. `code` is null if it was closed without an error. */
  noRequest(code: string | null): void;
  /** A secret was read while the receiver runs; `secrets` verify now. Null: the text was no secret. */
  learned(secrets: number | null): void;
  /** Later deliveries are not recorded. The cause is FULL, or the code of an error. */
  recordingEnded(cause: string): void;
  /** A line of the recording is not a delivery. */
  brokenLine(line: number): void;
  replayed(replayed: Replayed): void;
}
