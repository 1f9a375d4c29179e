import { ATTEMPT_TIMEOUT_MS, LEASE_MS } from "./plan.ts";
import type { Harm } from "./services.ts";
import type { Sighting } from "./sightings.ts";
import type { Unrecorded } from "./unrecorded.ts";

/**
 * The time from the end of an attempt until it is recorded: 10 ms, or up to 350 ms while other
 * processes start.
 */
export const RECORDING_MS = 500;
/** The difference between the clocks of the receivers and of the services. */
const CLOCKS_MS = 100;

/** Why an attempt is not in the audit. */
export interface Cause {
  harm: Harm;
  /**
   * `killed`: its process was, before it recorded the outcome. `lease ended`: before the record. `claim lost`: the database crashed
   * before the claim was on its disk, or on the standby's. `abandoned`: no record succeeded until the lease ended.
   */
  how: "killed" | "lease ended" | "claim lost" | "abandoned";
}

/** What is known of an attempt that is not in the audit. */
export interface Evidence {
  harms: readonly Harm[];
  unrecorded: readonly Unrecorded[];
  /** The start of the delivery's next attempt. Infinity: there was none. */
  nextAt: number;
}

/**
 * Returns the cause, or null. Either the process was killed, or it says in its log that it did not record this outcome, and it had
 * slept past the lease or PostgreSQL was down at that time. Without such a harm, the line itself must have come after the lease.
 */
export function explain(sighting: Sighting, { harms, unrecorded, nextAt }: Evidence): Cause | null {
  const line = unrecorded.find((one) => isAbout(one, sighting));
  const how = line ? howOf(line, nextAt) : "killed";
  const late = line && how === "lease ended" ? latenessOf(line) : null;
  const harm = harmTo(sighting, harms, how) ?? late;
  return harm && { harm, how };
}

/** On a machine that is too busy, an outcome comes after its lease although nobody did any harm. */
function latenessOf({ slot, leasedUntil, at }: Unrecorded): Harm | null {
  if (at < leasedUntil) return null;
  return { kind: "late", slot, from: leasedUntil, until: at };
}

function isAbout({ slot, event, from, until }: Unrecorded, seen: Sighting): boolean {
  return slot === seen.slot && event === seen.event && seen.sentAt >= from && seen.sentAt <= until;
}

function howOf({ why, leasedUntil }: Unrecorded, nextAt: number): Cause["how"] {
  if (why === "abandoned") return "abandoned";
  return nextAt < leasedUntil - CLOCKS_MS ? "claim lost" : "lease ended";
}

const CAUSES: Record<Cause["how"], Harm["kind"][]> = {
  killed: ["kill"],
  "lease ended": ["pause", "database"],
  "claim lost": ["database"],
  abandoned: ["database"],
};

function harmTo(
  { slot, sentAt }: Sighting,
  harms: readonly Harm[],
  how: Cause["how"],
): Harm | null {
  const outages = harms.filter(({ kind }) => kind === "database");
  const reaching = harms
    .filter(({ kind, slot: harmed, from, until }) => {
      if (!CAUSES[how].includes(kind) || (harmed !== null && harmed !== slot)) return false;
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
