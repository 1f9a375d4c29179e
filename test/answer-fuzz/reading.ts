/** How a client reads the bytes that a receiver sends. */
export interface Reading {
  /** Null if the answer was refused, or is incomplete. */
  status: number | null;
  /** How many bytes had arrived when the answer ended. Null if it did not end. */
  end: number | null;
  /** The client would send the next request over the same connection. */
  isReused: boolean;
}
