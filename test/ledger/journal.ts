import { readFile } from "node:fs/promises";

/** The two services. Each has its own name server, so that receivers can tell them apart. */
export const SLOTS = ["a", "b"] as const;
export type Slot = (typeof SLOTS)[number];

export type Answer = "accept" | "refuse" | "hang" | "reset";

/** A request at a receiver, written down before the response. */
export interface Arrival {
  event: string;
  subscription: string;
  slot: Slot;
  /** `X-VC-Timestamp`: identifies an attempt. */
  sentAt: number;
  /** When its body had arrived. */
  at: number;
  answer: Answer;
}

export async function readJournal(path: string): Promise<Arrival[]> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Arrival);
}
