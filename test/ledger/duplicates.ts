import { ATTEMPT_TIMEOUT_MS, LEASE_MS } from "./plan.ts";
import type { Harm } from "./services.ts";
import type { Sighting } from "./sightings.ts";

/** From the end of an attempt until it is recorded: 10 ms, and up to 350 where processes start again beside it. */
export const RECORDING_MS = 500;

/**
 * What kept an attempt from being recorded, or null. It must have been under way in the very process that was killed,
 * or that slept past its lease; or its record must have been due while PostgreSQL was away.
 */
export function explain({ slot, sentAt }: Sighting, harms: readonly Harm[]): Harm | null {
  const outages = harms.filter(({ kind }) => kind === "database");
  const reaching = harms
    .filter(({ kind, slot: harmed, from, until }) => {
      if (harmed !== null && harmed !== slot) return false;
      const wasAway = outages.some((outage) => outage.from <= from && outage.until >= sentAt);
      // One that slept sends what it had claimed, and can record none of it.
      const last = kind === "pause" ? until + ATTEMPT_TIMEOUT_MS : until;
      return sentAt >= from - unrecordedMs(kind, wasAway) && sentAt <= last;
    })
    .toSorted((a, b) => a.from - b.from);
  return reaching.find(({ kind }) => kind !== "database") ?? reaching[0] ?? null;
}

/** How long after its request was sent an attempt may still be unrecorded. */
function unrecordedMs(harm: Harm["kind"], wasAway: boolean): number {
  // What had its outcome a while before PostgreSQL went can be recorded when it is back: it is away for a second.
  if (harm === "database") return ATTEMPT_TIMEOUT_MS;
  // And is tried to be recorded until the lease is over: a process can be killed before.
  return wasAway ? LEASE_MS : ATTEMPT_TIMEOUT_MS + RECORDING_MS;
}
