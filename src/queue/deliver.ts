import type { Clock } from "../lib/clock.ts";
import { attemptId, publicId } from "../lib/ids.ts";
import { NO_TRACER, type Span, type Tracer } from "../lib/tracing.ts";
import {
  type Attempt,
  type Claim,
  type InternalFault,
  LOST_LEASES_MAX,
  type Outcome,
} from "../subjects/deliveries/rules.ts";
import { endAttempt, startAttempt } from "./attempt-span.ts";
import { type Responsiveness, type Signal, signalOf } from "./rules.ts";
import type { Post } from "./sender.ts";

interface DelivererOptions {
  send: (post: Post) => Promise<Outcome>;
  clock: Clock;
  /** Default: nothing is traced. */
  tracer?: Tracer;
  /** Whether receivers get `traceparent`. Default: false. */
  tellsReceivers?: boolean;
  /** Records an attempt. Resolves when the record is durable. */
  record: (attempt: Attempt) => Promise<void>;
  /** Postpones a delivery without counting an attempt. */
  postpone: (claim: Claim) => Promise<void>;
  /** The same, for a second. */
  defer: (claim: Claim) => Promise<void>;
  /** `error`: the exception, if the fault is one. */
  onInternalFault: (fault: InternalFault, claim: Claim, error?: unknown) => void;
  onEnded: (attempt: Attempt) => void;
}

/**
 * Returns the function that attempts a claimed delivery. It resolves when the attempt has ended; `recorded` resolves when the
 * outcome is durable. `responsiveness`: of the subscription's receiver.
 */
export function createDeliverer({
  send,
  clock,
  tracer = NO_TRACER,
  tellsReceivers = false,
  record,
  postpone,
  defer,
  onInternalFault,
  onEnded,
}: DelivererOptions): (
  claim: Claim,
  responsiveness?: Responsiveness,
) => Promise<{ signal: Signal; recorded: Promise<void> }> {
  return async (claim, responsiveness = "unknown") => {
    const startedAt = clock();
    const span = startAttempt(tracer, claim);
    const outcome = await outcomeOf(claim, { responsiveness, startedAt, span });
    if (span) endAttempt(span, outcome);
    const signal = signalOf(outcome);
    if (outcome.kind === "internal-fault") {
      onInternalFault(outcome.fault, claim, outcome.error);
      return { signal, recorded: postpone(claim) };
    }
    if (outcome.kind === "deferred") return { signal, recorded: defer(claim) };

    const id = attemptId(claim.id, claim.attempts + 1, startedAt);
    const attempt = { id, claim, outcome, startedAt, endedAt: clock() };
    onEnded(attempt);
    return { signal, recorded: record(attempt) };
  };

  async function outcomeOf(
    claim: Claim,
    {
      responsiveness,
      startedAt,
      span,
    }: { responsiveness: Responsiveness; startedAt: Date; span: Span | null },
  ): Promise<Outcome> {
    const { organizationId, url, signingSecret, body, lostLeases } = claim;
    if (lostLeases >= LOST_LEASES_MAX) return { kind: "unreachable", reason: "interrupted" };
    // The claim came late or this process slept. Another process may have the delivery now.
    if (startedAt >= claim.leasedUntil) return { kind: "internal-fault", fault: "lease_spent" };
    if (signingSecret === null) return { kind: "internal-fault", fault: "secret_sealed" };
    const eventId = publicId("evt", claim.eventId);
    const attempt = claim.attempts + 1;
    const post = { organizationId, url, eventId, signingSecret, attempt, body, responsiveness };
    return send(span ? { ...post, span, tellsReceiver: tellsReceivers } : post);
  }
}
