import { ATTEMPT_TIMEOUT_MS, LEASE_MS } from "./plan.ts";
import type { Harm } from "./services.ts";
import type { Sighting } from "./sightings.ts";

/**
 * The time from the end of an attempt until it is recorded: 10 ms, or up to 350 ms while other
 * processes start.
 */
export const RECORDING_MS = 500;

/**
 * Returns the reason why an attempt was not recorded, or null. Either its own process was killed or slept
 * past the lease, or PostgreSQL was down at the time of recording.
 */
export function explain({ slot, sentAt }: Sighting, harms: readonly Harm[]): Harm | null {
  const outages = harms.filter(({ kind }) => kind === "database");
  const reaching = harms
    .filter(({ kind, slot: harmed, from, until }) => {
      if (harmed !== null && harmed !== slot) return false;
      const wasAway = outages.some((outage) => outage.from <= from && outage.until >= sentAt);
      // A process that slept sends its claimed deliveries, and can record none of them.
      const last = kind === "pause" ? until + ATTEMPT_TIMEOUT_MS : until;
      return sentAt >= from - unrecordedMs(kind, wasAway) && sentAt <= last;
    })
    .toSorted((a, b) => a.from - b.from);
  return reaching.find(({ kind }) => kind !== "database") ?? reaching[0] ?? null;
}

/** How long an attempt may be unrecorded after its request was sent. */
function unrecordedMs(harm: Harm["kind"], wasAway: boolean): number {
  // An outcome from before the outage is recorded after it, because the outage lasts only a second.
  if (harm === "database") return ATTEMPT_TIMEOUT_MS;
  // The service tries to record until the lease ends. A process may be killed before.
  return wasAway ? LEASE_MS : ATTEMPT_TIMEOUT_MS + RECORDING_MS;
}
