import type { Slot } from "./journal.ts";

/** A line of a service's log: the outcome of an attempt is not in the audit. */
export interface Unrecorded {
  slot: Slot;
  event: string;
  from: number;
  until: number;
  leasedUntil: number;
  /** The time of the line. */
  at: number;
  why: "ignored" | "abandoned";
}

/** Reads such a line. Null: the line says something else. */
export function readUnrecorded(slot: Slot, line: Record<string, unknown>): Unrecorded | null {
  const [, why] = /^outcome (ignored|abandoned): /.exec(String(line["msg"])) ?? [];
  if (why !== "ignored" && why !== "abandoned") return null;
  const from = Date.parse(String(line["attempted_at"]));
  return {
    slot,
    event: String(line["event_id"]),
    from,
    until: from + Number(line["ms"]),
    leasedUntil: Date.parse(String(line["leased_until"])),
    at: Date.parse(String(line["time"])),
    why,
  };
}
