import type { Verdict } from "../webhook/verify.ts";
import type { Received, Reply } from "./receiver.ts";

/** One attempt as it reached the receiver. */
export interface Arrival extends Received {
  at: Date;
  /** `unverified`: no secret was given. */
  verdict: Verdict | "unverified";
  /** Read from the body, genuine or not. */
  eventType: string | null;
  eventId: string | null;
  /** As the sender counts. If it does not say so: how many times this receiver got the event. */
  attempt: number;
  /** The faults of the data by its type's schema. Null if the types of the platform are unknown. */
  dataFaults: string[] | null;
  /** Where the request was forwarded to. Null: nowhere. */
  forwardedTo: string | null;
  /** Why that failed. Null: it did not. */
  forwardError: string | null;
  reply: Reply;
}
