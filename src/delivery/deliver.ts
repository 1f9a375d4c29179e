import type { Ended } from "../actions/attempts.ts";
import type { Claim } from "../actions/claim.ts";
import type { Clock } from "../domain/clock.ts";
import { type Signal, signalOf } from "../domain/concurrency-limit.ts";
import { LOST_LEASES_MAX } from "../domain/delivery.ts";
import { publicId } from "../domain/ids.ts";
import type { InternalFault, Outcome } from "../domain/outcome.ts";
import { internalFault } from "./attempt-failed.ts";
import type { Post } from "./sender.ts";

export interface DelivererOptions {
  send: (post: Post) => Promise<Outcome>;
  clock: Clock;
  /** Records an attempt; resolves when that is durable. */
  record: (ended: Ended) => Promise<void>;
  /** Puts a delivery off without counting an attempt. */
  postpone: (claim: Claim) => Promise<void>;
  /** The same, for a moment. */
  defer: (claim: Claim) => Promise<void>;
  /** `error`: the exception that is the fault. */
  onInternalFault: (fault: InternalFault, claim: Claim, error?: unknown) => void;
  onEnded: (ended: Ended) => void;
}

/** An attempt that has ended. */
export interface Attempted {
  signal: Signal;
  /** Resolves when its outcome is durable. */
  recorded: Promise<void>;
}

/** Makes the one function that takes a claimed delivery through its attempt: send, then record. */
export function createDeliverer({
  send,
  clock,
  record,
  postpone,
  defer,
  onInternalFault,
  onEnded,
}: DelivererOptions): (claim: Claim) => Promise<Attempted> {
  return async (claim) => {
    const startedAt = clock();
    const outcome = await attempt(claim, startedAt);
    const signal = signalOf(outcome);
    if (outcome.kind === "internal-fault") {
      onInternalFault(outcome.fault, claim, outcome.error);
      return { signal, recorded: postpone(claim) };
    }
    if (outcome.kind === "deferred") return { signal, recorded: defer(claim) };

    const ended = { claim, outcome, startedAt, endedAt: clock() };
    onEnded(ended);
    return { signal, recorded: record(ended) };
  };

  async function attempt(claim: Claim, startedAt: Date): Promise<Outcome> {
    const { url, signingSecret, body, lost_leases: lostLeases } = claim;
    if (lostLeases >= LOST_LEASES_MAX) return { kind: "unreachable", reason: "interrupted" };
    // The claim came that late, or we slept: another process may be at it.
    if (startedAt >= claim.leased_until) return internalFault("lease_spent");
    if (signingSecret === null) return internalFault("secret_sealed");
    return send({ url, eventId: publicId("evt", claim.event_id), signingSecret, body });
  }
}
