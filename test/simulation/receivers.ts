import type { Outcome } from "../../src/subjects/deliveries/rules.ts";

/** The behaviour of a receiver. `flaky` refuses every other attempt. `ours` is an internal fault. */
export type Behaviour = "acknowledge" | "refuse" | "flaky" | "reset" | "slow" | "hang" | "ours";

const SLOW_MS = 9_900;
const DEADLINE_MS = 10_000;

/**
 * The outcome of an attempt after `ms`, or null if it is in progress. `turn` is the number of
 * earlier responses.
 */
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
      return { kind: "internal-fault", fault: "no_resolver" };
  }
}
