import { groupBy } from "../../src/lib/objects.ts";
import type { AttemptEntry } from "./books.ts";
import type { Answer, Arrival, Slot } from "./journal.ts";

/** An attempt as the receivers saw it. */
export interface Sighting {
  event: string;
  slot: Slot;
  sentAt: number;
  /** Two if a kept connection was reset and the same request was sent again on a new one. */
  answers: Answer[];
}

/** Groups sightings by event, in order. */
export function sightingsOf(arrivals: readonly Arrival[]): Map<string, Sighting[]> {
  const byAttempt = new Map<string, Sighting>();
  for (const { event, slot, sentAt, answer } of arrivals) {
    const name = `${event} ${sentAt}`;
    const seen = byAttempt.get(name);
    if (seen) seen.answers.push(answer);
    else byAttempt.set(name, { event, slot, sentAt, answers: [answer] });
  }
  return groupBy([...byAttempt.values()], ({ event }) => event);
}

/** Finds the sighting of each attempt in the audit, and returns the sightings that were not recorded. */
export function match(
  attempts: readonly AttemptEntry[],
  sightings: readonly Sighting[],
): { seen: Map<AttemptEntry, Sighting>; unrecorded: Sighting[] } {
  const seen = new Map<AttemptEntry, Sighting>();
  const left = new Set(sightings);
  for (const entry of attempts) {
    const found = [...left].find((one) => isOf(entry, one));
    if (!found) continue;
    seen.set(entry, found);
    left.delete(found);
  }
  return { seen, unrecorded: [...left] };
}

function isOf({ from, until, reason, httpStatus }: AttemptEntry, { sentAt, answers }: Sighting) {
  if (sentAt < from || sentAt > until) return false;
  if (reason === null) return answers.at(-1) === "accept";
  return httpStatus === 0 || answers.at(-1) === "refuse";
}
