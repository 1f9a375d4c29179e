import type { FailureReason, Outcome, InternalFault } from "../domain/outcome.ts";

/** Ends an attempt at any point. The sender returns its outcome. */
export class AttemptFailed extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome, cause?: unknown) {
    super(outcome.kind, { cause });
    this.name = "AttemptFailed";
    this.outcome = outcome;
  }
}

export function unreachable(reason: FailureReason): Outcome {
  return { kind: "unreachable", reason };
}

export function internalFault(fault: InternalFault): Outcome {
  return { kind: "internal-fault", fault };
}

export const TIMED_OUT = unreachable("timeout");
