/** How a client reads the bytes that a receiver sends. */
export interface Reading {
  /** Null if the answer was refused, or is incomplete. */
  status: number | null;
  /** The number of bytes that had arrived when the answer ended. Null if it did not end. */
  end: number | null;
  /** True if the client would reuse the connection. */
  isReused: boolean;
}
