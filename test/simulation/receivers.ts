import type { Outcome } from "../../src/domain/outcome.ts";

/**
 * What a receiver does about whatever reaches it. One that is `flaky` refuses every other time, and `ours` is a fault
 * on the way there that is our own.
 */
export type Behaviour = "acknowledge" | "refuse" | "flaky" | "reset" | "slow" | "hang" | "ours";

const SLOW_MS = 9_900;
const DEADLINE_MS = 10_000;

/** What an attempt has come to after so long; null while it is under way. `turn`: how many it had answered before. */
export function outcomeAfter(behaviour: Behaviour, turn: number, ms: number): Outcome | null {
  switch (behaviour) {
    case "flaky":
      return outcomeAfter(turn % 2 === 0 ? "refuse" : "acknowledge", turn, ms);
    case "acknowledge":
      return { kind: "acknowledged", httpStatus: 204 };
    case "refuse":
      return { kind: "refused", httpStatus: 503 };
    case "reset":
      return { kind: "unreachable", reason: "connection_reset" };
    case "slow":
      return ms < SLOW_MS ? null : { kind: "acknowledged", httpStatus: 200 };
    case "hang":
      return ms < DEADLINE_MS ? null : { kind: "unreachable", reason: "timeout" };
    case "ours":
      return { kind: "our-fault", fault: "no_resolver" };
  }
}
