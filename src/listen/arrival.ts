import type { Received, Reply } from "../receiver/receiver.ts";
import type { Verdict } from "../webhook/verify.ts";

/** One attempt as the receiver saw it. */
export interface Arrival extends Received {
  at: Date;
  /** `unverified`: there was no secret to verify it with. */
  verdict: Verdict | "unverified";
  /** What its body says, whether or not that is true. */
  eventType: string | null;
  eventId: string | null;
  /** How many times its event has come to this receiver. */
  attempt: number;
  reply: Reply;
}
