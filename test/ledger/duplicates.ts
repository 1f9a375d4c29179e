import { ATTEMPT_TIMEOUT_MS, LEASE_MS } from "./plan.ts";
import type { Harm } from "./services.ts";
import type { Sighting } from "./sightings.ts";

/**
 * What kept an attempt from being recorded, or null. It must have been under way in the very process that was killed,
 * or that slept past its lease; or its record must have been due while PostgreSQL was away.
 */
export function explain({ slot, sentAt }: Sighting, harms: readonly Harm[]): Harm | null {
  const reaching = harms
    .filter(({ kind, slot: harmed, from, until }) => {
      if (harmed !== null && harmed !== slot) return false;
      // What had its outcome a while before PostgreSQL went can be recorded when it is back: it is away for a second.
      const first = from - (kind === "database" ? ATTEMPT_TIMEOUT_MS : LEASE_MS);
      // One that slept sends what it had claimed, and can record none of it.
      const last = kind === "pause" ? until + ATTEMPT_TIMEOUT_MS : until;
      return sentAt >= first && sentAt <= last;
    })
    .toSorted((a, b) => a.from - b.from);
  return reaching.find(({ kind }) => kind !== "database") ?? reaching[0] ?? null;
}
