import { readFile } from "node:fs/promises";

/** The two services. Each has a name server of its own, and so the receivers know which of them calls. */
export const SLOTS = ["a", "b"] as const;
export type Slot = (typeof SLOTS)[number];

export type Answer = "accept" | "refuse" | "hang" | "reset";

/** A request as a receiver saw it, written down before it was answered. */
export interface Arrival {
  event: string;
  subscription: string;
  slot: Slot;
  /** `X-VC-Timestamp`: the same for requests of one attempt, and for them alone. */
  sentAt: number;
  answer: Answer;
}

export async function readJournal(path: string): Promise<Arrival[]> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Arrival);
}
