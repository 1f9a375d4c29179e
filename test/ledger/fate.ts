import type { AttemptEntry, DeliveryEntry } from "./books.ts";
import { ATTEMPTS_MAX } from "./plan.ts";
import type { Sighting } from "./sightings.ts";

/** Everything known about a delivery. */
export interface Case {
  delivery: DeliveryEntry;
  /** The audit, ordered by attempt. */
  attempts: AttemptEntry[];
  /** The attempts that receivers saw too. */
  seen: Map<AttemptEntry, Sighting>;
  hasEnded: boolean;
}

/** Returns why this delivery is lost, or null if it was delivered, dead-lettered or cancelled by a rule. */
export function lossOf({ delivery, attempts, seen, hasEnded }: Case): string | null {
  const last = attempts.at(-1);
  switch (delivery.state) {
    case "delivered":
      return last && seen.get(last)?.answers.at(-1) === "accept" ? null : "no receiver accepted it";
    case "dead_lettered":
      return attempts.length === ATTEMPTS_MAX ? null : "it has attempts left";
    case "cancelled":
      return hasEnded ? null : "its subscription is active";
    default:
      return `it is ${delivery.state}`;
  }
}

/** Returns the fault of a delivery's audit, or null. */
export function flawOf({ delivery, attempts, seen }: Case): string | null {
  const last = attempts.at(-1);
  if (attempts.length !== delivery.attempts) return "its attempts are not all in the audit";
  if (attempts.some(({ attempt }, index) => attempt !== index + 1)) return "its audit has gaps";
  if (attempts.some((one) => one.reason === null && one !== last)) return "it went on after 200";
  if (last?.deadLettered !== (delivery.state === "dead_lettered") && last) {
    return "its audit and its state disagree about the dead letter";
  }
  const invented = attempts.some((one) => one.httpStatus > 0 && !seen.has(one));
  return invented ? "its audit has a response that no receiver sent" : null;
}
